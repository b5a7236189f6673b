"""What is left to do after an unexpected exception."""

from __future__ import annotations

import numpy as np

from geared_dynamics.ros.log import Failures

REST, STILL = np.array([0.3, 0.5, -0.4]), np.zeros(3)
DEFECT = ZeroDivisionError("defect")


def test_a_traceback_is_logged_once_a_second() -> None:
    class Log:
        lines: list[str] = []  # noqa: RUF012

        def get_logger(self) -> Log:
            return self

        def error(self, line: str) -> None:
            self.lines.append(line)

    log = Log()
    failures = Failures(log)
    for _ in range(5):
        try:
            raise DEFECT
        except ZeroDivisionError as error:
            failures.log(error, "the arm is held")
    failures.log(KeyError("another"), "the arm is held")
    assert failures.count == 6
    assert len(log.lines) == 2
    assert log.lines[0].startswith("unexpected exception (ZeroDivisionError: defect); the arm is")
    assert "test_failures.py" in log.lines[0]
