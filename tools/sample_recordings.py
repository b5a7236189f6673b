"""Make the recordings that come with the package: recordings/brisk6.csv and recordings/wave6.csv.

    python tools/sample_recordings.py

Simulated arms follow exciting motions under computed feedforward and weak feedback: MuJoCo moves
brisk6, whose rotors are bodies there; our equations move wave6, which is elastic. Positions and
torques are what the encoders and drives of the motors report, taken to the joints.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import geared_dynamics as gd
from geared_dynamics import analysis
from geared_dynamics.arrays import Array
from geared_dynamics.files import robot_files, write_text

FOLDER = Path(__file__).parents[1] / "recordings"
BANDWIDTH = 12.0  # of the feedback [rad/s]


def simulated(
    model: gd.GearedModel, engine: str, duration: float, step: float
) -> tuple[Array, Array, Array]:
    """Times (k,), joint positions and torques (k, n) that motors report along a motion."""
    settings = gd.simulation.PlantSettings(encoder_counts=2**16, current_noise=0.02, seed=1)
    motion = analysis.excite(
        model, duration=duration, acceleration=12.0, starts=5, changes=30, seed=3
    )
    plant = gd.simulation.Plant(model, command="motor_torque", engine=engine, settings=settings)
    plant.reset(motion.motion.at(np.zeros(1))[0][0])
    steps = round(duration / step)
    q_d, v_d, a_d = motion.motion.at(step * np.arange(steps))
    rows = []
    for q, v, a in zip(q_d, v_d, a_d, strict=True):
        seen = plant.read()
        state = seen.joint_state(model)
        wanted = BANDWIDTH**2 * (q - state.q) + 2.0 * BANDWIDTH * (v - state.v)
        command = gd.motor_commands(model, q, v, a + wanted).torque
        rows.append((state.q, model.structure_matrix @ seen.motor_torque))
        plant.step(command, step)
    position, torque = (np.array(column) for column in zip(*rows, strict=True))
    return step * np.arange(steps), position, torque


def write(name: str, model: gd.GearedModel, rows: Array) -> None:
    """Write a table: time, then position and effort of each joint."""
    heads = [f"{what}.{joint}" for what in ("position", "effort") for joint in model.joint_names]
    n = model.n
    lines = [",".join(["time", *heads])]
    for row in rows:
        cells = [f"{row[0]:.3f}", *(f"{x:.6f}" for x in row[1 : n + 1])]
        lines.append(",".join([*cells, *(f"{x:.4g}" for x in row[n + 1 :])]))
    write_text(FOLDER / f"{name}.csv", "\n".join(lines) + "\n")


def main() -> None:
    """Make both."""
    FOLDER.mkdir(exist_ok=True)
    # An observer needs every torque that the motors had, identification does not.
    for name, engine, duration, step, every in (
        ("brisk6", "mujoco", 12.0, 1e-3, 8),
        ("wave6", "equations", 3.0, 2e-3, 1),
    ):
        model = gd.load_model(*robot_files(name))
        t, q, tau = simulated(model, engine, duration, step)
        write(name, model, np.column_stack([t, q, tau])[::every])


if __name__ == "__main__":
    main()
