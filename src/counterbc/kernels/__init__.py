"""How a training step is computed: plain torch, numba or Triton."""
