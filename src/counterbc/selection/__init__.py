"""Everything that is chosen by cross-validation."""
