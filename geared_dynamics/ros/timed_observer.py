"""The observer node with a clock about its observer's step.

``python -m geared_dynamics.ros.timed_observer STEPS.npy --ros-args ...`` writes the
times of all steps [ns] when it ends.
"""

from __future__ import annotations

import sys
import time
from array import array
from pathlib import Path
from typing import Any

import numpy as np

from geared_dynamics.observers import KalmanObserver, KalmanState
from geared_dynamics.ros.elastic_observer import ElasticObserverNode
from geared_dynamics.ros.process import run


def main(path: str, argv: list[str]) -> int:
    """Run the node until it is interrupted."""
    times, step = array("q"), KalmanObserver.step

    def timed(*given: Any) -> KalmanState:
        begin = time.perf_counter_ns()
        found = step(*given)
        times.append(time.perf_counter_ns() - begin)
        return found

    setattr(KalmanObserver, "step", timed)  # noqa: B010 - mypy refuses the plain form
    try:
        return run(argv, "timed_observer", ElasticObserverNode)
    finally:
        with Path(path).open("wb") as file:
            np.save(file, np.array(times, dtype=np.int64))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], [sys.argv[0], *sys.argv[2:]]))
