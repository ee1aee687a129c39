"""The stack editor.

`draft` (what is being edited, as values) -> `editor` (edits it, with undo) -> `strength`, `cards`
and `pile` (show it) -> `steps` (the switch while it runs) -> `lists` and `place` (all together).
"""
