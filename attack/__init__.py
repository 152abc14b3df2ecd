"""An attack on the library: damaged and malicious files, kills, full disks, interrupts.

`python -m attack` runs it; SECURITY.md has the promises that it checks and its last results.
"""
