"""The version is defined once."""

import re

import counterbc
from counterbc.data import version


def test_the_package_has_the_version_that_files_record() -> None:
    assert counterbc.__version__ is version.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+)?", version.__version__)
