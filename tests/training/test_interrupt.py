"""Ctrl-C while a training runs."""

from __future__ import annotations

import signal

import pytest

from counterbc.training.interrupt import Interrupt


def test_the_first_ctrl_c_asks_to_stop_and_the_second_stops_at_once() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interrupt() as interrupt:
        stops = [interrupt.stop]
        signal.raise_signal(signal.SIGINT)
        stops.append(interrupt.stop)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert stops == [False, True]
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_stops_at_once_at_a_question_and_asks_for_a_stop_after_it() -> None:
    with Interrupt() as interrupt, pytest.raises(KeyboardInterrupt), interrupt.at_once():
        signal.raise_signal(signal.SIGINT)
    with Interrupt() as interrupt:
        with interrupt.at_once():
            pass
        signal.raise_signal(signal.SIGINT)
        assert interrupt.stop
