"""The policies that read images, alone or beside a vector."""

from __future__ import annotations

from dataclasses import fields

from counterbc.data.names import shape_text
from counterbc.errors import OptionError
from counterbc.policies import FOR_IMAGES, POLICIES, Flow, Policy


def policy_for_images(
    policy: Policy, image: tuple[int, ...], vector: bool, policy_name: str | None
) -> Policy:
    """Return the policy that replaces another where observations are images, or have some.

    `image` are the sizes of all cameras; `policy_name` is the policy that was asked for, if any.
    """
    kind = FOR_IMAGES.get(type(policy))
    if kind is None or (policy_name is not None and not issubclass(kind, type(policy))):
        choices = [name for name, candidate in POLICIES.items() if candidate in FOR_IMAGES.values()]
        sizes = " and ".join(shape_text(image[i : i + 3]) for i in range(0, len(image), 3))
        raise OptionError(
            f"a {type(policy).__name__} reads vectors, but the observations "
            f"{'have' if vector else 'are'} images of {sizes}; choose the policy "
            f"{' or '.join(choices)}" + (", or only vectors with --obs" if vector else "")
        )
    if isinstance(policy, kind) and (policy.image, policy.vector) == (image, vector):
        return policy
    is_flow = isinstance(policy, Flow)  # which stays the same but for its encoder
    fields_to_keep = {f.name: getattr(policy, f.name) for f in fields(policy) if is_flow}
    return kind(**fields_to_keep | {"image": image, "vector": vector})
