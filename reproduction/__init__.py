"""The paper, reproduced: figures, tables, verdicts and the experiments behind them."""
