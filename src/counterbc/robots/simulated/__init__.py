"""A simulated arm at an air hockey table, which stands in for hardware."""
