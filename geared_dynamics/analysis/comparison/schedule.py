"""A function over numbered spans: here, in several processes, or on a Dask cluster.

Results come in the order of the spans whatever ran where, and each is a pure function of plan
and number, so sums are the same to the last digit.
"""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from geared_dynamics.analysis.extras import extra
from geared_dynamics.errors import GearedDynamicsError

Result = TypeVar("Result")
Task = Callable[[Any, int], Any]
AHEAD = 2  # spans in flight for each worker: enough to keep it busy, and memory bounded

_shared: dict[str, Any] = {}  # of a worker process: what its initializer was given


def over_spans(
    function: Callable[[Any, int], Result],
    plan: Any,
    spans: int,
    *,
    jobs: int = 1,
    scheduler: str | None = None,
) -> Iterator[Result]:
    """Yield function(plan, k) for k = 0, 1, ..., spans - 1.

    Args:
        function: A function of a module, so that it can be pickled.
        plan: Its first argument; sent to each worker once.
        spans: Number of spans.
        jobs: Processes on this machine.
        scheduler: Address of a Dask scheduler, whose workers have this package and see the
            recording under the same path; ``jobs`` is then ignored.
    """
    if scheduler is not None:
        yield from on_cluster(function, plan, spans, scheduler)
    elif jobs > 1 and spans > 1:
        yield from in_processes(function, plan, spans, min(jobs, spans))
    else:
        for span in range(spans):
            yield function(plan, span)


def in_processes(function: Task, plan: Any, spans: int, jobs: int) -> Iterator[Any]:
    """Run on this machine."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, remember, (function, plan)) as pool:
        try:
            yield from in_order(lambda k: pool.submit(remembered, k), spans, AHEAD * jobs)
        except BrokenProcessPool:
            remedy = "give the machine more memory, or run with --jobs 1"
            raise GearedDynamicsError("--jobs", "a worker process died", remedy) from None


def remember(function: Task, plan: Any) -> None:
    """Keep what all spans share, in a worker process."""
    _shared.update(function=function, plan=plan)


def remembered(span: int) -> Any:
    """Run one span, in a worker process."""
    return _shared["function"](_shared["plan"], span)


def on_cluster(function: Task, plan: Any, spans: int, scheduler: str) -> Iterator[Any]:
    """Run on the workers of a Dask scheduler."""
    distributed = extra("distributed", "--scheduler")
    try:
        client = distributed.Client(scheduler, timeout=10, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        remedy = "start one (dask scheduler), or give its address, such as tcp://host:8786"
        finding = f"no scheduler answers ({str(error)[:80]})"
        raise GearedDynamicsError(f"--scheduler {scheduler}", finding, remedy) from None
    with client:
        workers = len(client.scheduler_info(n_workers=-1)["workers"])
        if not workers:
            raise GearedDynamicsError(
                f"--scheduler {scheduler}", "has no workers", "start some: dask worker ADDRESS"
            )
        shared = client.scatter(plan, broadcast=True)
        results = in_order(
            lambda k: client.submit(function, shared, k, pure=False), spans, AHEAD * workers
        )
        while True:
            try:
                result = next(results)
            except StopIteration:
                return
            except GearedDynamicsError:
                raise
            except Exception as error:
                finding = f"a worker failed ({type(error).__name__}: {str(error)[:200]})"
                remedy = "give workers the same package and memory enough, or run with --jobs"
                raise GearedDynamicsError(f"--scheduler {scheduler}", finding, remedy) from error
            yield result


def in_order(submit: Callable[[int], Any], spans: int, ahead: int) -> Iterator[Any]:
    """Submit spans, no more than ``ahead`` of the one that is waited for."""
    waiting: deque[Any] = deque()
    for span in range(spans):
        waiting.append(submit(span))
        if len(waiting) >= ahead:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
