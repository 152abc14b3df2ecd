"""Demonstrations: frozen, checked, and everything that describes them."""
