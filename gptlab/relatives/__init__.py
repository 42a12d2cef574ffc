"""Relatives of the GPT: models of other shapes, made of the same parts where they share them."""
