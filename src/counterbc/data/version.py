"""The version of the package, which files and run folders record."""

__version__ = "0.2.0.dev0"
