"""Small policies trained by this library and by others, taking turns in one run."""
