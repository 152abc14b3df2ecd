"""What demonstrators meant: intents, scores, cleaning."""
