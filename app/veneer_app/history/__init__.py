"""The History of generations.

`rows` (a generation in words) and `moments` (its transitions) -> `line` (draws the line of time)
-> `events` (one generation) -> `place`.
"""
