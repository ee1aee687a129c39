"""What surrounds the places.

`rail` (where to go), `topbar` (what is active), `pins` (stacks under keys), `drop` (files).
"""
