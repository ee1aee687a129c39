"""The History of generations: `rows` -> `place`."""
