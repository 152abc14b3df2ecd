"""Air hockey."""
