"""The first run: `beginning` (what is here, and which step that leaves) -> `first` (shows it)."""
