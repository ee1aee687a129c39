"""The command line: the same operations as the window, for terminals and other programs.

`run` starts it. Order: `session` (what every command needs) -> one module for each group of
commands -> `run` (arguments in, exit code out, errors as one line).
"""
