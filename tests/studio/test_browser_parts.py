"""Parts of the page in a real browser, without a session: tables, the clock, and the form."""

from __future__ import annotations

import json
from typing import Any

import pytest

from counterbc.studio.limits import LARGEST_MESSAGE
from counterbc.studio.messages import read_selection

pytestmark = [pytest.mark.slow, pytest.mark.needs("playwright")]


@pytest.fixture
def sort(tab: Any) -> Any:
    """A function that sorts four rows by distance, and returns their order and three ticks."""
    return lambda clicks: tab.evaluate(
        """async (clicks) => {
          const { Table } = await import("/static/tables.js");
          const ticks = new Set(), columns = [{ key: "distance", title: "distance" }];
          const table = new Table("Rows", columns, () => {}, ticks);
          table.show([{ name: "a", distance: 0.2 }, { name: "b" }, { name: "c", distance: null },
            { name: "d", distance: 0.7 }, { name: "e", distance: 0 }]);
          for (let i = 0; i < clicks; i++) table.sort("distance");
          table.tickFirst(4);
          return [table.sorted().map((row) => row.name).join(""), [...ticks].join("")];
        }""",
        clicks,
    )


def test_rows_without_a_value_come_last_in_both_directions_and_are_not_ticked(sort: Any) -> None:
    assert sort(1) == ["eadbc", "ead"]
    assert sort(2) == ["daebc", "dae"]
    assert sort(0) == ["abcde", "abcd"]  # in the order of the file every row has a place


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


SELECT = """async ([count, ticked]) => {
  const { runLengths } = await import("/static/tables.js");
  const rows = Array.from({ length: count }, (_, i) => ({ name: `demo_${i}` }));
  return runLengths(rows, new Set(ticked.map((i) => `demo_${i}`)));
}"""


@pytest.mark.parametrize("rows", [[], [0], [4], [0, 1, 2, 3, 4], [1, 2], [0, 2, 4]])
def test_a_selection_arrives_as_it_was_ticked(tab: Any, rows: list[int]) -> None:
    runs = tab.evaluate(SELECT, [5, rows])
    assert read_selection({"selection": runs}, "selection", 5) == rows


def test_ten_thousand_ticked_episodes_fit_in_a_message(tab: Any) -> None:
    for rows in (range(10_000), range(0, 20_000, 2), range(0, 10**6, 100)):
        runs = tab.evaluate(SELECT, [rows.stop, list(rows)])
        assert len(json.dumps(runs, separators=(",", ":"))) < LARGEST_MESSAGE - 1000


def test_a_message_that_is_too_long_is_refused_by_the_page_itself(tab: Any) -> None:
    reason = tab.evaluate(
        """async (largest) => {
          const { Link } = await import("/static/link.js");
          const link = new Link();
          link.tell = () => {};
          link.open();
          while (link.largest !== largest) await new Promise((done) => setTimeout(done, 20));
          const long = link.ask("look.open", { dataset: "ü".repeat(largest / 2) });
          const reason = await long.catch((error) => error.message);
          await link.ask("look.list"); // the connection is there
          link.socket.onclose = null;
          link.socket.close();
          return reason;
        }""",
        LARGEST_MESSAGE,
    )
    assert reason == "That is too much for one message; choose fewer."


def test_the_papers_protocol_is_offered_only_where_the_paper_has_one(tab: Any) -> None:
    first, form = tab.locator("#protocol option").first, tab.locator("#collect form")
    for world, name, amount in (
        ("intersection", "the paper's protocol", "then 50 episodes."),
        ("push-t", "a preset (not in the paper)", "then 10 episodes."),
        ("cartpole", "the paper's protocol", "then 1000 steps (20 seconds)."),
    ):
        tab.check(f"input[value='{world}']")
        assert first.inner_text() == name
        assert amount in form.inner_text()
