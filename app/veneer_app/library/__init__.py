"""The Library.

`rows` (bases and adapters as table rows) -> `found` (search and filters) -> `facts`, `notes`,
`targets` and `actions` (what one of them is, and what can be done with it) -> `details` -> `place`.
"""
