"""Comparisons of methods: grid → rows → statistics → picture."""
