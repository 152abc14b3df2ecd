"""Watch and the lists of a study in a real browser: worlds, pauses, and what is not listed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from counterbc.demonstrators import demonstrate, find_teacher
from counterbc.studio.study_folder import StudyFolder
from counterbc.trainer import train
from tests.studio.browsers import PACE, begin, finish, is_over, open_tab, steps
from tests.studio.clients import WORLDS, LiveServer, Lockstep, load_recording, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.needs("playwright")]

PICTURE = "(canvas) => canvas.toDataURL()"
PAIRS = 12
SHARES = """() => {
  window.shares = [];
  const bar = document.querySelector("progress");
  new MutationObserver(() => window.shares.push(bar.getAttribute("value"))).observe(
    bar, { attributes: true, attributeFilter: ["value"] });
}"""


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A studio with three datasets and two runs of air hockey; worlds step once for each input."""
    path: Path = tmp_path_factory.mktemp("watch") / "study"
    study = StudyFolder.open(path)
    teacher = find_teacher(None, "uniform", 0.3, world="air-hockey")
    taken_demos = demonstrate("air-hockey", teacher, 200, 0, actions_are="taken")
    demos = replace(taken_demos, actions_are="asked")
    for name in ("a", "b", "c"):
        demos.save(path / f"{name}.hdf5")
    for method in ("bc", "counter-bc"):
        train(
            demos, method, steps=20, radius=0.2, lag=0, ensemble=1, progress=False,
            out=path / "runs" / method,
        )  # fmt: skip
    server = LiveServer(study, Lockstep)
    yield server
    server.stop()


def test_lists_that_are_too_long_say_how_many_are_left_out(
    browser: Any, studio: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_line = (
        "1 more run of this study is not listed. To open it, start the studio with --run-folder"
    )
    data_line = "2 more datasets of this study are not listed."
    with open_tab(browser, studio) as tab:
        tab.click("nav >> text=Look")
        tab.wait_for_selector("#dataset option", state="attached")
        assert tab.locator("text=/not listed/").count() == 0  # the lists are complete
        monkeypatch.setattr("counterbc.studio.study_folder.LIST_LIMIT", 1)
        tab.click("#look >> button:text-is('List again')")
        tab.wait_for_selector(
            f"#look >> text={data_line} To open one of them, start the studio with --data FILE."
        )
        assert tab.locator("#dataset option").count() == 1
        tab.click("nav >> text=Watch")
        tab.wait_for_selector(f"#watch fieldset >> text={run_line}")
        tab.wait_for_selector(f"#watch fieldset >> text={data_line}")


def test_a_held_key_counts_again_after_a_pause_and_one_that_was_let_go_does_not(
    browser: Any, studio: LiveServer
) -> None:
    with open_tab(browser, studio) as tab:
        tab.click("nav >> text=Watch")
        tab.check("input[value='runs/bc']")
        tab.click("button:text-is('Watch')")
        tab.click("button:text-is('Take over')")
        tab.wait_for_selector("button:text-is('Give back')")
        tab.keyboard.down("ArrowUp")  # one input, one step
        wait_for(lambda: steps(studio) == 1)
        for is_held in (True, False):
            tab.click("button:text-is('Pause')")
            tab.wait_for_selector("button:text-is('Continue')")
            if not is_held:
                tab.keyboard.up("ArrowUp")
            count = len(tab.evaluate("() => window.sent"))
            tab.click("button:text-is('Continue')")
            tab.wait_for_selector("button:text-is('Pause')")
            actions = [m["action"] for m in tab.evaluate("() => window.sent")[count:]]
            assert actions == ([[0, 1]] if is_held else [])
            if is_held:
                wait_for(lambda: steps(studio) == 2)
        tab.evaluate("""() => {
          Object.defineProperty(document, "hidden", { value: true });
          document.dispatchEvent(new Event("visibilitychange"));
        }""")  # nobody steers a page that nobody sees
        tab.wait_for_selector("button:text-is('Take over')")
        tab.wait_for_selector("button:text-is('Continue')")


def test_a_correction_is_learned_and_seen_beside_the_policy_before(
    browser: Any, studio: LiveServer
) -> None:
    with open_tab(browser, studio) as tab:
        tab.click("nav >> text=Watch")
        tab.check("input[value='runs/bc']")
        tab.click("button:text-is('Watch')")
        tab.click("button:text-is('Take over')")
        tab.wait_for_selector("button:text-is('Give back')")
        before = steps(studio)
        for key in ("ArrowUp", "ArrowLeft"):
            tab.keyboard.down(key)
            tab.keyboard.up(key)  # four inputs, four steps
        wait_for(lambda: steps(studio) == before + 4)
        tab.click("button:text-is('Give back')")
        session = max(path.name for path in (studio.study.path / "journal").iterdir())
        tab.wait_for_selector(f"text=4 pairs of corrections are saved in {session};")
        tab.check("input[value='a.hdf5']")
        tab.check(f"input[value='{session}.hdf5']")
        tab.select_option("#start", "runs/bc")
        tab.fill("#steps", "100")
        tab.evaluate(SHARES)
        tab.click("button:text-is('Train')")
        tab.wait_for_selector("text=Training runs/bc-more…")
        tab.wait_for_selector("text=runs/bc-more is ready: bc, 100 steps on 204 pairs.")
        shares = [float(share) for share in tab.evaluate("() => window.shares")]
        assert shares == sorted(shares)
        assert shares[-1] > 0.9
        assert not tab.locator("progress").is_visible()
        tab.check("input[value='runs/bc-more']")
        tab.click("button:text-is('Watch')")
        tab.wait_for_selector("h3:text-is('runs/bc-more')")
        assert tab.locator("#watch canvas.scene").count() == 2
        tab.reload()  # the page comes back with its panels and the news of the training
        tab.wait_for_selector("h3:text-is('runs/bc-more')")
        tab.wait_for_selector("text=runs/bc-more is ready")


def test_what_a_new_policy_needs_is_chosen_in_sight_before_its_training(
    browser: Any, studio: LiveServer
) -> None:
    with open_tab(browser, studio) as tab:
        tab.click("nav >> text=Watch")
        tab.check("input[value='a.hdf5']")
        tab.select_option("#method", "bc")
        tab.fill("#steps", "100")
        tab.evaluate(SHARES)
        tab.click("button:text-is('Train')")
        tab.wait_for_selector("text=Choosing the lag for runs/bc-2…")
        tab.wait_for_selector("text=runs/bc-2 is ready: bc, 100 steps on 200 pairs.")
        shares = [float(share) for share in tab.evaluate("() => window.shares")]
        assert sum(after < before for before, after in pairwise(shares)) == 1  # the training begins
        assert any(0 < share < 1 for share in shares[: shares.index(1.0)])


def test_collect_names_the_dataset_of_its_own_session_only(
    browser: Any, studio: LiveServer
) -> None:
    with open_tab(browser, studio) as tab:
        begin(tab, "air-hockey")
        tab.keyboard.press("Space")
        tab.wait_for_selector("button:text-is('Pause')")
        tab.keyboard.press("ArrowUp")
        tab.click("button:text-is('End episode')")
        tab.wait_for_selector("dd.saved-in:text-matches('hdf5')")
        name = tab.locator("dd.saved-in").inner_text()
        tab.click("nav >> text=Watch")
        tab.check("input[value='runs/bc']")
        tab.click("button:text-is('Watch')")
        tab.click("button:text-is('Take over')")
        tab.wait_for_selector("button:text-is('Give back')")
        tab.keyboard.press("ArrowUp")
        tab.click("button:text-is('Give back')")
        session = max(path.name for path in (studio.study.path / "journal").iterdir())
        assert name != f"{session}.hdf5"
        tab.wait_for_selector(f"input[value='{session}.hdf5']")  # it is saved
        tab.click("nav >> text=Collect")
        assert tab.locator("dd.saved-in").inner_text() == name


@pytest.mark.parametrize("world", WORLDS)
def test_a_policy_trained_on_a_recording_is_drawn_in_watch(
    tab: Any, server: LiveServer, world: str
) -> None:
    begin(tab, world, **PACE.get(world, {}))
    tab.keyboard.press("Space")
    wait_for(lambda: steps(server) >= PAIRS or is_over(tab))
    finish(tab, server)
    train(
        load_recording(server.study), "bc", steps=10, lag=0, ensemble=1, progress=False,
        out=server.study.path / "runs" / "bc",
    )  # fmt: skip
    tab.click("nav >> text=Watch")
    tab.check("input[value='runs/bc']")
    tab.click("button:text-is('Watch')")
    tab.wait_for_selector("text=/return .* after [1-9]/")
    tab.click("button:text-matches('Pause|Continue')")  # one of them, as it may be over
    canvas = tab.locator("#watch canvas.scene")
    early_picture = canvas.evaluate(PICTURE)
    colours = canvas.evaluate("""(canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size;
    }""")
    assert colours >= 4  # a world, and not a blank panel
    tab.click("button:text-is('New start')")
    tab.wait_for_function(
        "([selector, before]) => document.querySelector(selector).toDataURL() !== before",
        arg=["#watch canvas.scene", early_picture],
    )
