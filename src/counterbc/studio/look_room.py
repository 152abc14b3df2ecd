"""Look: the messages of a page on which a person looks at demonstrations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from counterbc.data.action_scale import scaled_actions
from counterbc.errors import OptionError
from counterbc.studio.dataset_view import DatasetView
from counterbc.studio.exports import exclude_line, export_cleaned, export_mask
from counterbc.studio.frames import Frame
from counterbc.studio.held_out_job import RADIUS, HeldOutResult, predict_held_out
from counterbc.studio.job import Job
from counterbc.studio.landscape import landscape
from counterbc.studio.meant import MeantActions
from counterbc.studio.messages import (
    Message,
    read_name,
    read_names,
    read_number,
    read_text,
    read_whole,
)
from counterbc.studio.person import Person
from counterbc.studio.study_folder import StudyFolder

IMAGE_SLOT = 100
"""The panel of camera frames, beside those of worlds."""
LONGEST_LAG = 20


class LookRoom:
    """What one person looks at."""

    def __init__(self, study: StudyFolder, person: Person) -> None:
        self.study, self.person = study, person
        self.view: DatasetView | None = None
        self.results: dict[int, HeldOutResult] = {}
        self.meant_actions: dict[int, MeantActions] = {}
        self.job: Job | None = None
        self.job_lag = 0
        self.handlers: dict[str, Callable[[Message], dict[str, Any] | None]] = {
            "look.list": self.list_datasets,
            "look.open": self.open,
            "look.episode": self.episode,
            "look.image": self.image,
            "look.predict": self.predict,
            "look.meant": self.meant,
            "look.moment": self.moment,
            "look.exclude": self.exclude,
            "look.mask": self.mask,
            "look.clean": self.clean,
        }

    def list_datasets(self, message: Message) -> dict[str, Any]:
        """Return the datasets that can be opened."""
        return {"datasets": list(self.study.list_datasets())}

    def open(self, message: Message) -> dict[str, Any]:
        """Open a dataset of the list."""
        name = read_text(message, "dataset", 500)
        datasets = self.study.list_datasets()
        if name not in datasets:
            raise OptionError(f"{name!r:.100} is not a dataset of this study; choose a listed one")
        self.close()
        self.view = DatasetView.open(datasets[name])
        self.results, self.meant_actions = {}, {}
        return self.view.describe()

    def episode(self, message: Message) -> dict[str, Any]:
        """Return the contents of an episode."""
        return self._view().contents(read_text(message, "episode"))

    def image(self, message: Message) -> None:
        """Send the camera frame of a step."""
        t = read_whole(message, "step", 0, 10**9)
        picture = self._view().image(read_text(message, "episode"), t)
        self.person.draw(Frame(t, picture, slot=IMAGE_SLOT))

    def predict(self, message: Message) -> dict[str, Any]:
        """Compute the held-out predictions of a lag, unless they are there."""
        view, lag = self._view(), read_whole(message, "lag", 0, LONGEST_LAG)
        if lag in self.results:
            self._tell(self.results[lag])
            return {"ready": True}
        if self.job is not None:
            if self.job.is_running and self.job_lag == lag:
                return {"ready": False}
            self.job.stop()
        self.job_lag = lag
        self.job = Job(
            predict_held_out,
            {"path": view.path, "lag": float(lag), "radius": RADIUS},
            done=lambda result: self._keep(view, lag, result),
            failed=lambda text: self.person.send({"type": "look.failed", "lag": lag, "text": text}),
        )
        return {"ready": False}

    def _keep(self, view: DatasetView, lag: int, result: HeldOutResult) -> None:
        if view is not self.view:  # another dataset was opened meanwhile
            return
        self.meant_actions[lag] = MeantActions(view.demos, result.predictions, float(lag))
        self.results[lag] = result
        self._tell(result)

    def _tell(self, result: HeldOutResult) -> None:
        self.person.send({
            "type": "look.ready", "lag": int(result.lag), "scores": list(result.scores),
            "operators": list(result.operators), "verdict": result.verdict,
        })  # fmt: skip

    def meant(self, message: Message) -> dict[str, Any]:
        """Return the meant actions of an episode for a Δ and a lag."""
        view, lag = self._view(), read_whole(message, "lag", 0, LONGEST_LAG)
        radius = read_number(message, "radius", 0.0, 4.0)
        pairs = view.pairs(view.index(read_text(message, "episode")))
        meant_actions = self._meant(lag)
        return {
            "meant": meant_actions.meant(pairs, radius).tolist(),
            "predicted": meant_actions.predicted[pairs].tolist(),
            "answered": meant_actions.has_answer[pairs].tolist(),
            "moved": meant_actions.moved(radius),
        }

    def moment(self, message: Message) -> dict[str, Any]:
        """Return the loss landscape of one step (figure 2 of the paper)."""
        view, lag = self._view(), read_whole(message, "lag", 0, LONGEST_LAG)
        radius = read_number(message, "radius", 0.0, 4.0)
        pairs = view.pairs(view.index(read_text(message, "episode")))
        step = read_whole(message, "step", 0, pairs.stop - pairs.start - 1)
        self._meant(lag)
        result, at = self.results[lag], pairs.start + step
        if result.mean is None or result.std is None:
            raise OptionError("only Gaussian policies have a landscape; these are none")
        sizes = range(view.demos.action_size)
        dims = tuple(
            sorted({read_whole({"dim": d}, "dim", 0, len(sizes) - 1) for d in _dims(message)})
        )
        shown_action = scaled_actions(view.demos, view.demos.action[at].astype(np.float64)[None])[0]
        return landscape(shown_action, result.mean[at], result.std[at], radius, dims)

    def exclude(self, message: Message) -> dict[str, Any]:
        """Return the command that excludes the selected episodes."""
        return {"text": exclude_line(self._view(), read_names(message, "episodes"))}

    def mask(self, message: Message) -> dict[str, Any]:
        """Write a copy with a mask of the selected episodes."""
        names = read_names(message, "episodes")
        path = export_mask(self.study, self._view(), read_name(message, "mask"), names)
        return {"text": f"Wrote {path.name}, with the mask {message['mask']}."}

    def clean(self, message: Message) -> dict[str, Any]:
        """Write a copy with the meant actions."""
        lag = read_whole(message, "lag", 0, LONGEST_LAG)
        radius = read_number(message, "radius", 0.0, 4.0)
        self._meant(lag)
        predictions = self.results[lag].predictions
        path = export_cleaned(self.study, self._view(), predictions, float(lag), radius)
        return {"text": f"Wrote {path.name}, with the meant actions."}

    def _view(self) -> DatasetView:
        if self.view is None:
            raise OptionError("no dataset is open; open one first")
        return self.view

    def _meant(self, lag: int) -> MeantActions:
        if lag not in self.meant_actions:
            raise OptionError(f"the predictions of lag {lag} are not there yet; wait for them")
        return self.meant_actions[lag]

    def leave(self) -> None:
        """Do nothing: what was computed is kept for a page that comes back."""

    def close(self) -> None:
        """Stop what is being computed."""
        if self.job is not None:
            self.job.stop()
            self.job = None


def _dims(message: Message) -> list[Any]:
    dims = message.get("dims")
    if not isinstance(dims, list) or not 1 <= len(dims) <= 2:
        raise OptionError("dims must be one or two action dimensions; choose them again")
    return dims
