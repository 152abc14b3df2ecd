"""Parts of the page in a real browser, without a session."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.needs("playwright")]


def test_the_clock_of_the_server_is_followed_when_it_drifts(tab: Any) -> None:
    errors = tab.evaluate(
        """async () => {
          const { Link } = await import("/static/link.js");
          const link = new Link(), errors = [];
          let now = 1000; // milliseconds
          performance.now = () => now;
          const ask = (roundTrip, drift) => {
            const sent = now, server = sent + roundTrip / 2 + drift;
            now += roundTrip;
            link.measure({ sent, now: server });
            errors.push(Math.abs(link.serverTime(now) - (now + drift)));
            now += 2000;
          };
          ask(1, 0); // an unusually short one
          for (let i = 1; i <= 1800; i++) ask(3, 0.04 * i); // an hour at 20 ppm
          return errors;
        }"""
    )
    assert errors[0] == 0
    assert max(errors) < 1.2  # 24 pings until an answer of 3 ms is the best one
    assert max(errors[30:]) < 0.1
