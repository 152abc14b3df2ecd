from __future__ import annotations

import importlib
import io
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from counterbc.errors import FormatError
from counterbc.formats import frames

SHAPE = (32, 48, 3)


def flat_image(shade: int, kind: str, shape: tuple[int, ...] = (6, 8, 3)) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(np.full(shape, shade, np.uint8)).save(buffer, kind)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
@pytest.mark.parametrize("shape", [(6, 8, 3), (3, 6, 8)])
def test_images_are_decoded_with_channels_last(kind: str, shape: tuple[int, ...]) -> None:
    images = [flat_image(shade, kind) for shade in (0, 40, 200)]
    pixels = frames.decode(images, shape, "front")
    assert pixels.shape == (3, 6, 8, 3)
    assert pixels.dtype == np.uint8
    assert pixels[:, 0, 0, 0].tolist() == [0, 40, 200]


@pytest.mark.parametrize("shape", [(6, 8), (6, 8, 1), (1, 6, 8)])
def test_grey_images_have_one_channel(shape: tuple[int, ...]) -> None:
    pixels = frames.decode([flat_image(9, "PNG", (6, 8))], shape, "depth")
    assert pixels.shape == (1, 6, 8, 1)
    assert frames.decode([], shape, "depth").shape == (0, 6, 8, 1)


@pytest.mark.parametrize("channels", [1, 3])
def test_png_is_lossless(channels: int) -> None:
    frame = np.random.default_rng(0).integers(0, 256, (5, 7, channels), dtype=np.uint8)
    assert np.array_equal(frames.decode([frames.png(frame)], frame.shape, "front")[0], frame)


@pytest.mark.parametrize(
    ("content", "shape", "message"),
    [
        (flat_image(0, "PNG"), (60, 80, 3), "8×6 pixels in row 0; the metadata say 80×60"),
        (flat_image(0, "PNG"), (6, 8, 9), r"expected \(H, W, 3\) or \(H, W, 1\)"),
        (flat_image(0, "JPEG")[:100], (6, 8, 3), "row 0 is not a PNG or JPEG image"),
        (b"GIF89a", (6, 8, 3), "row 0 is not a PNG or JPEG image"),
        (b"", (6, 8, 3), "has no image in row 0; store the images inside the file"),
        (None, (6, 8, 3), "has no image in row 0"),
    ],
)
def test_images_that_are_not_what_the_metadata_say_are_refused(
    content: bytes | None, shape: tuple[int, ...], message: str
) -> None:
    with pytest.raises(FormatError, match=f"front.*{message}"):
        frames.decode([content], shape, "front")


@pytest.fixture
def video(tmp_path: Path) -> Path:
    """Write ten flat frames at 10 Hz, each brighter than the one before."""
    av = importlib.import_module("av")
    path = tmp_path / "video.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.pix_fmt = 48, 32, "yuv420p"
        for shade in range(10):
            pixels = np.full(SHAPE, 20 * shade + 40, np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode(None))
    return path


@pytest.mark.needs("av")
@pytest.mark.parametrize(("begin", "count"), [(0.0, 10), (0.3, 4), (0.9, 1), (0.5, 0)])
def test_frames_are_decoded_from_a_second_on(video: Path, begin: float, count: int) -> None:
    pixels = frames.decode_video(
        video, begin=begin, count=count, fps=10, shape=SHAPE, label="front"
    )  # fmt: skip
    assert pixels.shape == (count, *SHAPE)
    expected_shades = 20 * (np.arange(count) + round(10 * begin)) + 40
    assert np.abs(pixels.mean(axis=(1, 2, 3)) - expected_shades).max(initial=0) < 4  # lossy


@pytest.mark.needs("av")
def test_a_video_that_is_short_missing_or_damaged_is_refused(video: Path) -> None:
    def decode(count: int = 2, shape: tuple[int, ...] = SHAPE) -> None:
        frames.decode_video(video, begin=0.9, count=count, fps=10, shape=shape, label="front")

    with pytest.raises(FormatError, match=r"has 1 frames from second 0\.9 on at 10 Hz; expected 2"):
        decode()
    with pytest.raises(FormatError, match=r"frames of shape \(32, 48, 3\); the metadata say"):
        decode(1, (48, 32, 3))
    video.write_bytes(b"not a video")
    with pytest.raises(FormatError, match=r"video\.mp4 cannot be read as a video"):
        decode()
    video.unlink()
    with pytest.raises(FormatError, match=r"video\.mp4 is missing; download the videos"):
        decode()


@pytest.mark.needs("av")
@pytest.mark.parametrize(
    "playlist",
    [
        "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n{video}\n#EXT-X-ENDLIST\n",
        "ffconcat version 1.0\nfile {video}\n",
    ],
)
@pytest.mark.parametrize("name", ["list.m3u8", "list.mp4", "list.mkv", "list.txt"])
def test_a_playlist_reads_no_other_film(video: Path, playlist: str, name: str) -> None:
    path = video.with_name(name)
    path.write_text(playlist.format(video=video))
    with pytest.raises(FormatError, match=f"{name} (ends in|cannot be read as a video)"):
        frames.decode_video(path, begin=0, count=1, fps=10, shape=SHAPE, label="front")


@pytest.mark.needs("av")
@pytest.mark.parametrize("suffix", [".mkv", ".avi", ".MP4"])
def test_films_in_other_containers_are_read(video: Path, suffix: str) -> None:
    av = importlib.import_module("av")
    path = video.with_name(f"other{suffix}")
    with av.open(str(video)) as source, av.open(str(path), "w") as container:
        stream = container.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.dts is not None:
                packet.stream = stream
                container.mux(packet)
    pixels = frames.decode_video(path, begin=0, count=5, fps=10, shape=SHAPE, label="front")
    assert pixels.shape == (5, *SHAPE)


def test_a_missing_library_is_named_with_its_install_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(FormatError, match=r"needs pillow, .* pip install pillow, or choose other"):
        frames.decode([], (6, 8, 3), "front")
    (tmp_path / "a.mp4").touch()
    with pytest.raises(FormatError, match=r"needs av, .* pip install av, or choose other"):
        frames.decode_video(
            tmp_path / "a.mp4", begin=0, count=1, fps=10, shape=SHAPE, label="front"
        )  # fmt: skip
