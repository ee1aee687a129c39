"""Small widgets that more than one place uses."""
