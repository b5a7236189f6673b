"""No state of a published recording is impossible after the one before, nor comes too late.

Recordings: unisa-acg/inverse-dynamics-solver (UR10, Panda; BSD-3-Clause), figaroh-plus (TX40,
Apache-2.0), J. Weigand's Robot_Identification (KR300, MIT). Speed limits: the robots' data sheets.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest

import geared_dynamics as gd
from geared_dynamics.control.safety import memory as event
from geared_dynamics.control.safety.detection import latest_valid_state

S = gd.control.safety
UR10, PANDA = np.radians([120.0] * 2 + [180.0] * 4), np.array([2.175] * 4 + [2.61] * 3)
TX40 = np.radians([287.0, 287.0, 430.0, 410.0, 320.0, 700.0])
KR300 = np.radians([105.0, 101.0, 107.0, 122.0, 113.0, 175.0])
TX40_RATIOS = np.array([32.0, 32.0, 45.0, 48.0, 45.0, 32.0])
BAGS = {
    "ur10_exciting_trajectory": UR10,
    "panda_exciting_trajectory": PANDA,
}
NAMES = [*BAGS, "tx40", "traj_A", "traj_B"]


def bag(path: Path) -> tuple[np.ndarray, ...]:
    """Stamps (k,) [s], positions and velocities (k, n) as they were sent."""
    typesys = pytest.importorskip("rosbags.typesys", reason="needs geared_dynamics[analysis]")
    store = typesys.get_typestore(typesys.Stores.LATEST)
    query = (
        "SELECT data FROM messages JOIN topics ON topics.id = topic_id WHERE type = ? ORDER BY "
    )
    with sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True) as base:
        kind = "sensor_msgs/msg/JointState"
        rows = base.execute(query + "messages.id", (kind,)).fetchall()
    found = [store.deserialize_cdr(data, kind) for (data,) in rows]
    t = np.array([m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec for m in found])
    q, v = (np.array([getattr(m, field) for m in found]) for field in ("position", "velocity"))
    return t - t[0], q, v


def recorded(data: Path, name: str) -> tuple[np.ndarray, ...]:
    """Stamps, positions, velocities and speed limits."""
    if name in BAGS:
        t, q, v = bag(data / "rosbag2_ur10_panda" / f"{name}.db3")
        return t, q, v, BAGS[name]
    if name == "tx40":
        file = data / "tx40" / "pos_read_data.csv"
        q = np.loadtxt(file, delimiter=",", skiprows=1)[::5] / TX40_RATIOS  # at 1 kHz
        t = 1e-3 * np.arange(len(q))
        return t, q, np.gradient(q, t, axis=0), TX40
    file = data / "kr300_weigand" / f"{name}.csv"
    table = np.genfromtxt(file, delimiter=",", names=True)
    q, v = (
        np.radians(np.stack([table[f"{key}_{k}"] for k in range(1, 7)], axis=1))
        for key in ("q_motor_deg", "qd_motor_deg_s")
    )
    return table["t_s"], q, v, KR300


def events(t: np.ndarray, q: np.ndarray, v: np.ndarray, limit: np.ndarray, timeout: float) -> int:
    """Impossible states of a recording, as the safety step finds them, arrivals at the stamps."""
    n = q.shape[1]
    free = (np.inf,) * n
    policy = S.Policy((-np.inf,) * n, free, tuple(limit), free, free, free, (False,) * n,
                      state_timeout=timeout)  # fmt: skip
    memory, count = S.START, 0
    for when, position, velocity in zip(t.tolist(), q, v, strict=True):
        seen = S.Observation(when, when, position, velocity, sampled=when)
        known = latest_valid_state(policy, memory, seen)
        count += bool(known.events & (event.IMPOSSIBLE_STATE | event.STALE_STATE))
        recent = memory.recent._replace(q=known.q, v=known.v, stamp=known.stamp, track=known.track)
        phase = memory.phase._replace(mode=S.Mode.RUNNING)
        memory = memory._replace(recent=recent, phase=phase)
    return count


@pytest.mark.parametrize("name", NAMES)
def test_no_state_of_a_recording_is_impossible(shared_data: Path, name: str) -> None:
    t, q, v, limit = recorded(shared_data, name)
    assert len(t) > 500
    timeout = max(0.05, 5.0 * float(np.median(np.diff(t))))
    assert events(t, q, v, limit, timeout) == 0
    leap = q.copy()
    leap[len(q) // 2 :, 1] += 0.5  # negative controls: an encoder that jumps, and slower joints
    assert events(t, leap, v, limit, timeout) > 0
    assert events(t, q, v, 0.02 * limit, timeout) > 0
