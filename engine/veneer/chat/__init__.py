"""Conversations that remember under which composition each message was made.

Order: `setup`, `conversation`, `comparisons` (the values) -> `history`, `presets`, `search` (kept
in the database) -> `attaching`, `export` (files in, files out) -> `talk` (asking the running
composition) -> `comparing` (asking several, one after another).
"""
