"""One entry: run, draw, merge, docs."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from reproduction.__main__ import COMMANDS, main
from reproduction.catalog import FIGURES
from reproduction.options import help_text
from reproduction.studies import PICTURES, STUDIES, load_study, options_of


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("fly", "unknown command 'fly'; allowed: run, draw, merge, docs"),
        ("run", "name a figure, a table or a study first: one of figure2, figure3"),
        ("run figure8", "unknown figure, table or study 'figure8'; allowed: figure2, figure3"),
        ("run radius modes", "run one study at a time; got radius, modes"),
        ("run figure4 --env moon", "unknown world of figure4 'moon'; allowed: "),
        ("run figure4 --env push-t", "push-t is studied with what people recorded; name their"),
        ("run intents", "the study needs files of people; name their folder with --data"),
        ("draw figure4 --noise loud", "unknown noise or teacher of figure4 'loud'; allowed: "),
        ("draw figure8", "unknown figure or table 'figure8'; allowed: figure2"),
        ("draw figure4", "200 of 200 cells are not finished"),
        ("docs index", "unknown page with tables 'index'; allowed: "),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_sentence(
    arguments: str,
    message: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments.split()) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert message in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_the_help_shows_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(f"python -m reproduction {command}" in text for command in COMMANDS)


@pytest.mark.parametrize(("command", "studies"), [("run", STUDIES), ("draw", tuple(PICTURES))])
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_the_help_of_a_command_lists_figures_and_studies(
    command: str, studies: tuple[str, ...], flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, flag]) == 0
    usage, *_, figures, names = capsys.readouterr().out.splitlines()
    assert usage.startswith(f"usage: python -m reproduction {command} FIGURE")
    assert figures == f"figures and tables: {', '.join([*FIGURES, 'all'])}"
    assert names == f"studies: {', '.join(studies)}"


@pytest.mark.parametrize("name", [*STUDIES, *PICTURES.values()])
def test_every_option_of_a_study_has_a_help_text(name: str) -> None:
    assert [f.name for f in fields(options_of(load_study(name))) if not help_text(f)] == []


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_is_reached_by_its_name(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["run", name, "--help"])
    assert exit_.value.code == 0
    assert f"python -m reproduction run {name}" in capsys.readouterr().out
