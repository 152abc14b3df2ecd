"""Pictures of Push-T."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterbc.errors import OptionError
from reproduction.studies import push_t_pictures


def test_a_file_of_people_is_needed(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="needs a file of people; name it with --data"):
        push_t_pictures.run(push_t_pictures.PushTPicturesOptions(picture=tmp_path / "push-t.png"))
