"""The policies that replace others where there are images."""

from __future__ import annotations

import pytest

from counterbc.errors import OptionError
from counterbc.policies import (
    Chunk,
    Flow,
    FlowCNN,
    GaussianCNN,
    GaussianCNNGRU,
    GaussianGRU,
    GaussianMLP,
    Policy,
)
from counterbc.policies.for_images import policy_for_images

IMAGE = (40, 36, 3)


@pytest.mark.parametrize(
    ("policy", "kind"),
    [(GaussianMLP(), GaussianCNN), (GaussianGRU(), GaussianCNNGRU), (Flow(), FlowCNN)],
)
def test_a_policy_of_vectors_becomes_one_of_images_and_the_vector(
    policy: Policy, kind: type[Policy]
) -> None:
    read = policy_for_images(policy, IMAGE * 2, True, None)
    assert (type(read), read.images, read.reads_vector) == (kind, (IMAGE, IMAGE), True)
    assert policy_for_images(read, IMAGE * 2, True, None) is read
    assert not policy_for_images(read, IMAGE, False, None).reads_vector


def test_a_flow_stays_the_same_but_for_its_encoder() -> None:
    read = policy_for_images(Flow(horizon=4, execute=2), IMAGE, True, None)
    assert (read.horizon, read.execute) == (4, 2)


def test_a_policy_that_reads_only_vectors_is_refused_in_one_sentence() -> None:
    with pytest.raises(OptionError, match="observations are images of 40×36×3; choose the policy"):
        policy_for_images(Chunk(), IMAGE, False, None)
    with pytest.raises(OptionError, match=r"have images of 40×36×3.*or only vectors with --obs"):
        policy_for_images(Chunk(), IMAGE, True, None)
