"""robomimic's Can."""
