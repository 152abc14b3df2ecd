"""Jobs of a study on a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

from counterbc.errors import CounterBCError, MissingExtra

On = Literal["local", "ray"]
"""Where the cells of a study are computed: on this machine, or on a Ray cluster."""
Result = TypeVar("Result")
RETRIES = 20  # lost machines that one job survives


def run_on_ray(
    jobs: Mapping[str, Callable[[], Result]],
    on_result: Callable[[str, Result], None],
    address: str | None = None,
    gpus: float = 0.0,
) -> None:
    """Run every job as a task of one core and call `on_result(name, result)` as each finishes.

    `address` is that of a running cluster; by default RAY_ADDRESS, or a new cluster on this
    machine. A job whose machine or process is lost is repeated as a whole. counterbc must be
    installed on every machine.
    """
    ray = _import_ray()
    started_here = not ray.is_initialized()
    try:
        if started_here:
            ray.init(address=address, log_to_driver=False, logging_level="ERROR")
        task = ray.remote(num_cpus=1, num_gpus=gpus, max_retries=RETRIES)(_call)
        tasks = {task.remote(job): name for name, job in jobs.items()}
        while tasks:
            ready, _ = ray.wait(list(tasks))
            on_result(tasks.pop(ready[0]), _result(ray, ready[0]))
    except ConnectionError as error:
        raise CounterBCError(
            f"no Ray cluster answers at {address or 'RAY_ADDRESS'} ({error}); "
            "start one with: ray start --head"
        ) from None
    finally:
        if started_here:
            ray.shutdown()


def _call(job: Callable[[], Result]) -> Result:
    return job()


def _result(ray: Any, reference: Any) -> Any:
    """Return the result of a task; raise the job's own error as it is."""
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:  # the job raised it, so it is not repeated
        if isinstance(error.cause, CounterBCError):
            raise error.cause from None
        raise
    except ray.exceptions.RayError as error:
        raise CounterBCError(
            f"a cell was lost on the cluster more than {RETRIES} times "
            f"({type(error).__name__}); finished cells are kept, so run the same command again"
        ) from None


def _import_ray() -> Any:
    try:
        import ray
    except ModuleNotFoundError:
        raise MissingExtra("ray", "ray", "a study on a cluster") from None
    return ray
