"""Shapes on a canvas, by hand on a few pixels."""

from __future__ import annotations

import numpy as np

from counterbc.envs.painting import Canvas

BLACK, WHITE = (0, 0, 0), (255, 255, 255)


def canvas(soft: bool = True) -> Canvas:
    """Eight by six pixels, one unit each, with (0, 0) between the pixels in the middle."""
    return Canvas(8, 6, 1.0, origin=(4, 3), color=BLACK, soft=soft)


def test_x_runs_to_the_right_and_y_up_and_both_are_pixel_centres() -> None:
    c = canvas()
    np.testing.assert_allclose(c.x[0], [-3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5])
    np.testing.assert_allclose(c.y[:, 0], [2.5, 1.5, 0.5, -0.5, -1.5, -2.5])


def test_a_hard_disc_covers_the_pixels_whose_centres_are_in_it() -> None:
    c = canvas(soft=False)
    c.disc((0.5, 0.5), 1.0, WHITE)
    rows, columns = np.nonzero(c.picture()[..., 0])
    assert set(zip(rows.tolist(), columns.tolist(), strict=True)) == {
        (2, 4), (1, 4), (3, 4), (2, 3), (2, 5)
    }  # fmt: skip


def test_a_soft_edge_fades_over_one_pixel_and_opacity_scales_it() -> None:
    c = canvas()
    c.disc((0.5, 0.5), 1.0, WHITE, opacity=0.8)
    # At the centre the depth is 1 pixel, beside it 0: half of the cover.
    np.testing.assert_allclose(c.image[2, 4], 0.8 * 255)
    np.testing.assert_allclose(c.image[2, 5], 0.4 * 255)
    np.testing.assert_allclose(c.image[2, 6], 0.0)


def test_a_bar_is_its_axis_thickened_and_reaches_beyond_both_ends() -> None:
    c = canvas(soft=False)
    c.bar((-1.5, 0.5), (1.5, 0.5), 1.0, WHITE)
    painted = c.picture()[..., 0] > 0
    assert painted[2].nonzero()[0].tolist() == [1, 2, 3, 4, 5, 6]
    assert painted[1].nonzero()[0].tolist() == [2, 3, 4, 5]
    assert not painted[0].any()
    assert not painted[4].any()


def test_a_ring_is_empty_in_its_middle() -> None:
    c = canvas(soft=False)
    c.ring((0.5, 0.5), 2.0, 0.25, WHITE)
    painted = c.picture()[..., 0] > 0
    assert painted[2].nonzero()[0].tolist() == [2, 6]


def test_an_area_is_given_by_flags_or_by_its_depth() -> None:
    flags, depth = canvas(), canvas(soft=False)
    flags.area(flags.y < 0, WHITE)
    depth.area(-depth.y, WHITE)
    np.testing.assert_array_equal(flags.picture(), depth.picture())
    assert (flags.picture()[3:] == 255).all()
    assert (flags.picture()[:3] == 0).all()


def test_a_shape_outside_the_canvas_paints_nothing_and_a_copy_is_independent() -> None:
    c = canvas()
    canvas_copy = c.copy()
    canvas_copy.disc((40.0, 0.0), 1.0, WHITE)
    assert not canvas_copy.image.any()
    canvas_copy.disc((0.0, 0.0), 2.0, WHITE)
    assert canvas_copy.image.any()
    assert not c.image.any()
