"""The Library: `rows` (bases and adapters as table rows) -> `details` (one of them) -> `place`."""
