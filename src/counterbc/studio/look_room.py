"""Look: the messages of a page on which a person looks at demonstrations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import OptionError
from counterbc.printing import duration
from counterbc.studio.camera_film import CameraFilm
from counterbc.studio.dataset_view import DatasetView, thinning
from counterbc.studio.exports import exclude_line, export_cleaned, export_mask
from counterbc.studio.frames import Frame
from counterbc.studio.held_out_job import (
    RADIUS,
    HeldOutResult,
    estimated_seconds,
    predict_held_out,
)
from counterbc.studio.job import Job
from counterbc.studio.landscape import landscape
from counterbc.studio.meant import MeantActions
from counterbc.studio.messages import (
    Message,
    read_listed,
    read_name,
    read_number,
    read_selection,
    read_text,
    read_whole,
)
from counterbc.studio.person import Person
from counterbc.studio.study_folder import StudyFolder

IMAGE_SLOT = 100
"""The panel of the first camera, beyond those of worlds."""
CAMERAS = 4
"""Cameras that are shown, at most."""
LONGEST_LAG = 25
"""Steps of the longest lag that can be asked for: half a second in the fastest world."""
_SHORT = 40.0  # seconds of work that starts without being asked for
_BACKGROUND = 300.0  # seconds of work for lags that nobody asked for yet


class LookRoom:
    """What one person looks at."""

    is_busy = False

    def __init__(self, study: StudyFolder, person: Person) -> None:
        self.study, self.person = study, person
        self.view: DatasetView | None = None
        self.films: list[CameraFilm] = []
        self.results: dict[int, HeldOutResult] = {}
        self.meant_actions: dict[int, MeantActions] = {}
        self.job: Job | None = None
        self.job_lags: list[int] = []
        """The lags that the job computes; somebody waits for the first of them."""
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
        datasets = self.study.list_datasets()
        return {"datasets": list(datasets), "datasets_unlisted": datasets.unlisted}

    def open(self, message: Message) -> dict[str, Any]:
        """Open a dataset of the list; the one before stays open if it cannot be read."""
        path = read_listed(message, "dataset", self.study.list_datasets())
        view = DatasetView.open(
            path, report=lambda n: self.person.send({"type": "look.reading", "episodes": n})
        )
        self.close()
        self.view, self.films, self.results, self.meant_actions = view, [], {}, {}
        return view.describe() | self._cost(view) | {"longest_lag": _longest_lag(view)}

    def _cost(self, view: DatasetView) -> dict[str, Any]:
        """Return how long meant actions take, and whether that starts without being asked for."""
        if view.sample is None:
            return {"cost": None, "waits": True}
        seconds = estimated_seconds(view.sample)
        is_short = seconds <= _SHORT and view.is_whole
        return {"cost": duration(seconds), "waits": not is_short}

    def episode(self, message: Message) -> dict[str, Any]:
        """Return the contents of an episode."""
        view, name = self._view(), read_text(message, "episode")
        contents = view.contents(name)
        self.films = [
            CameraFilm(view.path, view.format, camera, name, contents["length"])
            for camera in view.cameras[:CAMERAS]
        ]
        return contents

    def image(self, message: Message) -> None:
        """Send the frames of all cameras at a step of the episode that was asked for last."""
        t = read_whole(message, "step", 0, 10**9)
        if not self.films:
            raise OptionError("no episode with a camera is open; choose another one")
        for i, film in enumerate(self.films):
            self.person.draw(Frame(t, film.frame(t), slot=IMAGE_SLOT + i))

    def predict(self, message: Message) -> dict[str, Any]:
        """Compute the held-out predictions of a lag, unless they are there.

        An episode outside the sample is added to it, if one is named.
        """
        view, lag = self._view(), read_whole(message, "lag", 0, LONGEST_LAG)
        if (name := message.get("episode")) is not None:
            view = self._add(view, read_text({"episode": name}, "episode"))
        if lag in self.results:
            self._tell(self.results[lag])
            return {"ready": True}
        if self.job is not None:
            if self.job.is_running and self._lag_under_way() == lag:
                return {"ready": False}
            self.job.stop()
        sample, self.job_lags = self._sample(view), self._lags(view, lag)
        names = [episode.name for episode in sample.episodes]
        source = (view.path, view.format, view.keys, names)
        self.job = Job(
            predict_held_out,
            {"source": source, "lags": self.job_lags, "radius": RADIUS},
            progress=lambda result: self._keep(view, result),
            done=lambda nothing: None,
            failed=lambda text: self._fail(lag, text),
        )
        return {"ready": False}

    def _lag_under_way(self) -> int | None:
        return next((lag for lag in self.job_lags if lag not in self.results), None)

    def _lags(self, view: DatasetView, lag: int) -> list[int]:
        """Return the lag that was asked for, then those that a slider may reach next."""
        seconds = estimated_seconds(self._sample(view))
        if seconds > _SHORT or not view.is_whole:
            return [lag]
        others = set(range(_longest_lag(view) + 1)) - {lag, *self.results}
        return [lag, *sorted(others, key=lambda x: abs(x - lag))[: int(_BACKGROUND / seconds)]]

    def _fail(self, lag: int, text: str) -> None:
        """Say that a lag failed, if somebody waits for it."""
        if lag not in self.results:
            self.person.send({"type": "look.failed", "lag": lag, "text": text})

    def _add(self, view: DatasetView, name: str) -> DatasetView:
        """Add an episode to the sample; what was computed without it is dropped."""
        if any(episode.name == name for episode in self._sample(view).episodes):
            return view
        self.close()
        self.view, self.results, self.meant_actions = view.with_episode(name), {}, {}
        return self.view

    def _keep(self, view: DatasetView, result: HeldOutResult) -> None:
        if view is not self.view:  # another dataset was opened meanwhile
            return
        lag = int(result.lag)
        self.meant_actions[lag] = MeantActions(self._sample(view), result.predictions, float(lag))
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
        meant_actions = self._meant(lag)
        pairs = view.pairs(read_text(message, "episode"))
        stride = thinning(pairs.stop - pairs.start)
        return {
            "meant": meant_actions.meant(pairs, radius)[::stride].tolist(),
            "answered": meant_actions.has_answer[pairs][::stride].tolist(),
            "moved": meant_actions.moved(radius),
        }

    def moment(self, message: Message) -> dict[str, Any]:
        """Return the loss landscape of one step (figure 2 of the paper).

        The policy's mean at s_t predicts a_(t+k) for a lag of k, so that action is the `+` of the
        picture and the middle of C(s, a).
        """
        view, lag = self._view(), read_whole(message, "lag", 0, LONGEST_LAG)
        radius = read_number(message, "radius", 0.0, 4.0)
        meant_actions = self._meant(lag)
        pairs, sample = view.pairs(read_text(message, "episode")), self._sample(view)
        at = pairs.start + read_whole(message, "step", 0, pairs.stop - pairs.start - 1)
        result = self.results[lag]
        if result.mean is None or result.std is None:
            raise OptionError("only Gaussian policies have a landscape; these are none")
        largest = sample.action_size - 1
        dims = {read_whole({"dim": d}, "dim", 0, largest) for d in _dims(message)}
        policy = result.mean[at], result.std[at]
        plane = landscape(meant_actions.answer(at), *policy, radius, tuple(sorted(dims)))
        return plane | {"trained_radius": RADIUS}

    def exclude(self, message: Message) -> dict[str, Any]:
        """Return the command that excludes the selected episodes."""
        view = self._view()
        return {"text": exclude_line(view, _selected_names(view, message))}

    def mask(self, message: Message) -> dict[str, Any]:
        """Write a copy with a mask of the selected episodes."""
        view = self._view()
        names = _selected_names(view, message)
        path = export_mask(self.study, view, read_name(message, "mask"), names)
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

    def _sample(self, view: DatasetView) -> Demonstrations:
        if view.sample is None:
            raise OptionError(
                "meant actions of images and of very long episodes take too long for this page; "
                "use counterbc score and clean"
            )
        return view.sample

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


def _selected_names(view: DatasetView, message: Message) -> list[str]:
    """Return the names of the episodes that a message selects by their rows."""
    rows = read_selection(message, "selection", len(view.rows))
    return [str(view.rows[row]["name"]) for row in rows]


def _longest_lag(view: DatasetView) -> int:
    """Return the longest lag to offer: half a second, as people react in 0.2 to 0.4 s.

    It is 10 to `LONGEST_LAG` steps, so that slow worlds have some to choose from, and at most half
    of the longest episode.
    """
    half_second = round(0.5 * (view.model.rate or 0.0))
    half_episode = max(int(row["length"]) for row in view.rows) // 2
    return min(LONGEST_LAG, max(10, half_second), half_episode)


def _dims(message: Message) -> list[Any]:
    dims = message.get("dims")
    if not isinstance(dims, list) or not 1 <= len(dims) <= 2:
        raise OptionError("dims must be one or two action dimensions; choose them again")
    return dims
