"""The paper's figures, drawn from rows."""
