"""What surrounds the places: `rail` (where to go), `topbar` (what is active), `drop` (files)."""
