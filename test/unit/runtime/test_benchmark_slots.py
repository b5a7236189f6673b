from __future__ import annotations

import itertools

import numpy as np
import pytest

from geared_dynamics.runtime.process_tasks import SECOND, plan


@pytest.mark.parametrize("rate", [1, 3, 100, 1000])
def test_each_node_gets_every_cycle_once_in_order(rate: int) -> None:
    planned = plan(rate, 4.0)
    slots = [planned.slot(number) for number in range(planned.slots)]
    for subject in (0, 1):
        assert [s.cycle for s in slots if s.subject == subject] == list(range(4 * rate))


def test_the_two_halves_of_a_period_and_who_comes_first() -> None:
    planned = plan(100, 4.0)
    slots = [planned.slot(number) for number in range(planned.slots)]
    assert all(b.due - a.due == SECOND // 200 for a, b in itertools.pairwise(slots))
    first = [slot.subject for slot in slots[::2]]
    assert first == [0] * 100 + [1] * 100 + [0] * 100 + [1] * 100
    gaps = np.diff([slot.due for slot in slots if slot.subject == 0])
    assert np.mean(gaps) == pytest.approx(planned.period, rel=0.01)
    assert set(gaps) <= {planned.period // 2, planned.period, planned.period * 3 // 2}


def test_the_schedule_does_not_drift() -> None:
    planned = plan(3, 1000.0)
    assert planned.slot(planned.slots - 2).due == pytest.approx(999.667 * SECOND, rel=1e-6)
