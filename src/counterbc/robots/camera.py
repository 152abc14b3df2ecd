"""A camera whose newest picture is always at hand."""

from __future__ import annotations

import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from counterbc.acting.clock import Clock, WallClock
from counterbc.errors import FormatError, MissingExtra

Picture = tuple[float, NDArray[np.uint8]]
"""When it arrived, and its pixels (H, W, 3): blue, green, red."""


class Camera:
    """Reads pictures in a thread, so that the loop never waits for the next one.

    A picture's time is when it arrived. What passes between exposure and arrival is not seen here;
    measure it once, and give it as `delay`.
    """

    def __init__(
        self, source: int | Path, *, clock: Clock | None = None, delay: float = 0.0
    ) -> None:
        """`source` is the number of a camera, or a file of pictures for trials."""
        try:
            import cv2
        except ImportError:
            raise MissingExtra("opencv-python", "robots", "reading a camera") from None
        self.clock, self.delay = clock or WallClock(), delay
        self._capture: Any = cv2.VideoCapture(
            source if isinstance(source, int) else str(source)  # numbers and names differ to it
        )
        if not self._capture.isOpened():
            raise FormatError(
                f"camera {source} cannot be opened; check that it is connected and not in use"
            )
        self._newest: Picture | None = None
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._read, name="camera", daemon=True)
        self._thread.start()

    @property
    def newest(self) -> Picture | None:
        """The newest picture, or None before the first one."""
        return self._newest

    def close(self) -> None:
        """Let go of the camera."""
        self._is_over.set()
        self._thread.join(timeout=2)
        self._capture.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.close()

    def _read(self) -> None:
        """Replace the newest picture until the camera ends or is closed."""
        while not self._is_over.is_set():
            has_arrived, pixels = self._capture.read()
            if not has_arrived:
                return  # the newest picture grows old, and the loop stops the arm
            self._newest = self.clock.now() - self.delay, pixels
