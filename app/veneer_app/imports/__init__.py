"""Bringing files in.

`queue` (what is under way and what failed) -> `folders` (what watched folders add to it) ->
`tray` (shows it).
"""
