"""The Chat: `turns` (what a transcript shows, as values) -> `stream` (the answer as it comes) ->
`session` (the conversation at hand, and asking) -> `markdown`, `lexer` (an answer's text as
values) -> `code`, `prose`, `bubbles`, `transcript` (the widgets that show it) -> `attachments`,
`meter`, `setup_panel`, `composer` (the input) -> `conversations`, `switcher`, `hints`, `maker`
(around it) -> `place`."""
