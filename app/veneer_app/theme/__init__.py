"""How the window looks: one set of named tones in a light and a dark form.

Order: `tokens` (the tones) -> `sheet` (the style sheet built from them) -> `icons` (drawn in
them) -> `apply` (hands all of it to the application, and follows the system).
"""
