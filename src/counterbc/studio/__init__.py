"""The studio: a web page where people demonstrate, see what they meant, and watch policies.

`serve` starts the server; the page's own files are in `static/`. Nothing here is imported by the
rest of the library.
"""
