"""Token buckets."""

from __future__ import annotations

from counterbc.studio.limits import Bucket


def test_a_bucket_gives_its_burst_and_then_its_rate() -> None:
    now = [0.0]
    bucket = Bucket(rate=10, burst=3, clock=lambda: now[0])
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]
    now[0] = 0.1
    assert [bucket.take() for _ in range(2)] == [True, False]
    now[0] = 100.0  # not more than the burst, however long it was quiet
    assert [bucket.take() for _ in range(4)] == [True, True, True, False]
