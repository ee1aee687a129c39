"""The control channel: whoever holds the workspace carries out what others ask of it.

A second program cannot write to a workspace that is held, so it hands its whole command line to
the holder and shows what comes back: `veneer activate` in a terminal switches the open window.

Order: `messages` (what is said) -> `address` (where the holder listens, and the key) -> `server`
(the holder's end) -> `client` (the asker's end). What a command means is the command line's
affair; nothing here knows a workspace.
"""
