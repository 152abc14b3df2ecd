"""Training a population of networks: the plan, the loop, batches, checkpoints."""
