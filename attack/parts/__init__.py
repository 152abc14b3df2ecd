"""The parts of the attack, one module each."""
