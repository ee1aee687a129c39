"""The Settings: `place`."""
