"""Pictures beside each other, and a studio that starts or says why it does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from counterbc.errors import FormatError
from reproduction.studio_tab import GAP, GREY, StudioServer, chromium, grid, open_tab, picture_of


def test_a_grid_has_rows_of_equal_width_and_grey_lines() -> None:
    colours = [(255, 0, 0), (0, 255, 0), (0, 0, 255)]
    picture = grid([Image.new("RGB", (30, 10 + 5 * i), c) for i, c in enumerate(colours)], 2)
    assert picture.size == (60 + GAP, 15 + GAP + 20)
    corners = [(0, 0), (30 + GAP, 0), (0, 15 + GAP), (30, 0), (59, 15 + GAP)]
    assert [picture.getpixel(corner) for corner in corners] == [*colours, GREY, GREY]


def test_a_studio_that_does_not_start_says_which_command_shows_why(tmp_path: Path) -> None:
    (tmp_path / "study").write_text("no folder")
    with pytest.raises(FormatError, match=r"run: python -m counterbc studio .*study --no-browser"):
        StudioServer(tmp_path / "study")


@pytest.mark.slow
@pytest.mark.needs("playwright")
def test_a_picture_shows_the_page_of_a_studio(tmp_path: Path) -> None:
    server = StudioServer(tmp_path / "study")
    try:
        size = {"width": 400, "height": 300}
        with chromium() as browser, open_tab(browser, server, viewport=size) as tab:
            assert picture_of(tab).size == (400, 300)
            button = picture_of(tab, "button:text-is('Begin')")
            assert len(button.getcolors(10**6) or []) > 3
    finally:
        server.stop()
