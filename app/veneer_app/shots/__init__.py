"""Pictures of every place in every state, without a display: for the README, and for looking at.

`looks` (light, dark, from right to left, narrow, 200 %) -> `values` (a library that nobody has)
-> `chat`, `library`, `stacks`, `history`, `settings` (each puts its place into states that are
seldom met) -> `scenes` (all of them under their names) -> `render`.
"""
