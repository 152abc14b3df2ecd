"""The expertise of operators, read from policies trained with ILEED."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.diagnosis import expertise
from counterbc.errors import OptionError
from tests.fixture_types import Train


def test_expertise_is_saved_with_the_policies_and_follows_its_member(
    tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    policies = quick(tiny, "ileed", seeds=3)
    policies.save(tmp_path / "run")
    loaded_policies = Policies.load(tmp_path / "run")
    rho, loaded_rho = expertise(policies, tiny), expertise(loaded_policies, tiny)
    assert list(rho) == ["ada", "bob"]
    for name, values in rho.items():
        assert np.array_equal(values, loaded_rho[name])
        assert expertise(loaded_policies[2], tiny)[name].tolist() == values[2:].tolist()
        assert len(set(values.tolist())) == 3


def test_policies_of_other_methods_hold_no_expertise(tiny: Demonstrations, quick: Train) -> None:
    for method in ("bc", "weighted-bc"):
        with pytest.raises(OptionError, match=f"trained with {method} hold no expertise"):
            expertise(quick(tiny, method), tiny)
