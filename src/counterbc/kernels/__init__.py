"""Training steps: plain torch, which defines them, and faster kernels by numba and Triton."""
