"""numpy .npz files."""
