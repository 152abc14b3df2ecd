"""Lists of names in short texts."""

from counterbc.data.names import shorten


def test_a_long_list_is_cut_and_counted() -> None:
    assert shorten(["a", "b"]) == "a, b"
    assert shorten([]) == ""
    assert shorten(list("abcdefgh"), 3) == "a, b, c, … 8 in all"
