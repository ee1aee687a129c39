"""Conversations that remember under which composition each message was made.

Order: `conversation` (the values) -> `history` (kept in the database) -> `talk` (asking the
running composition).
"""
