"""Bringing files in: `queue` (what is under way and what failed) -> `tray` (shows it)."""
