"""The version of the package, which files and run folders record."""

__version__ = "0.1.0"
