"""robomimic HDF5."""
