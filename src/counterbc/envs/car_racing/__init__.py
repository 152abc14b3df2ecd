"""Car Racing from pixels."""
