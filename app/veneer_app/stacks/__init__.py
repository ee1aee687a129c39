"""The stack editor.

`draft` (what is being edited, as values) -> `editor` (edits it, with undo) -> `strength`, `cards`
and `pile` (show it), `memory` (what it would need) -> `steps` (the switch while it runs) ->
`shelf` and `menu` (what is done to whole stacks) -> `lists`, `layout` and `place` (all together).
"""
