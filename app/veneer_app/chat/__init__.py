"""The Chat: `turns` (what a transcript shows, as values) -> `stream` (the answer as it comes) ->
`session` (the conversation at hand, and asking) -> `bubbles`, `transcript`, `composer`,
`sampling`, `switcher` (the widgets) -> `place`."""
