"""Training steps: plain torch, which defines them, and faster kernels by numba, Triton and CUDA."""
