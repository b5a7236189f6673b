"""A line on a tilted plane with a constant force
==============================================

The arm of urdf/elbow.urdf presses on the plane with 20 N, along the normal, and draws a line of
0.3 m in a second; the tool rubs, and starts 5 mm beside the line. Feedback that acts only along
the plane leaves the force alone, whatever the plane's height is; feedback along all coordinates
pulls the tool towards a height that is wrong. The line is drawn where it should be if the
reference takes its height from the sensors: a wrong height shows along the plane as well.

Run: python examples/line_on_a_plane.py
"""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

import geared_dynamics as gd

ROOT = Path(__file__).resolve().parents[1]
FIGURES = Path(__file__).parent / "figures"
START, SLOPE = np.array([0.3, 0.8, -1.4]), np.radians(25.0)
LENGTH, OFF, BESIDE, HELD = 0.3, 3e-3, 5e-3, 20.0  # [m], [m], [m], [N]
RUBBING = 0.2
TIMES = np.linspace(0.0, 1.2, 241)
control, contact = gd.control, gd.contact


class Line:
    """The line on a plane: joint motion of the tool's places along, across and off the plane."""

    def __init__(self, model: gd.GearedModel, plane: gd.contact.Surface) -> None:
        """Prepare the plane, from the posture START."""
        self.model, self.plane, self.q = model, contact.prepare(model, plane), START

    def places(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Places (s, x, y), their Jacobian and drift."""
        seen = contact.coordinates(self.model, self.plane, q, v)
        free = seen.free
        return (
            np.append(seen.s, free.s[:2]),
            np.vstack([seen.jacobian, free.jacobian[:2]]),
            np.append(seen.drift, free.drift[:2]),
        )

    def posture(self, place: np.ndarray) -> np.ndarray:
        """Joint position with the tool at s, x, y."""
        q, still = self.q, np.zeros(3)
        for _ in range(30):
            s, J, _ = self.places(q, still)
            step = np.linalg.solve(J, place - s)
            q = q + step
            if np.abs(step).max() < 1e-13:
                break
        return q

    def at(self, t: float, height: float) -> control.Reference:
        """Joint motion at a time: from rest to rest within 1 s, at a height over the plane."""
        u = min(max(t, 0.0), 1.0)
        x, dx, ddx = LENGTH * np.array([
            u**3 * (10 - 15 * u + 6 * u**2),
            30 * u**2 * (1 - u) ** 2,
            60 * u * (1 - u) * (1 - 2 * u),
        ])  # fmt: skip
        self.q = self.posture(np.array([height, x, 0.0]))
        _, J, _ = self.places(self.q, self.q)
        v = np.linalg.solve(J, [0.0, dx, 0.0])
        drift = self.places(self.q, v)[2]
        return control.Reference(self.q, v, np.linalg.solve(J, [0.0, ddx, 0.0] - drift))


def law(
    model: gd.GearedModel, line: Line, *, hybrid: bool, seen: bool
) -> Callable[[float, np.ndarray, np.ndarray], np.ndarray]:
    """Computed torque with the desired force.

    Feedback along what is free only (``hybrid``) or along everything; the reference at the
    measured height (``seen``) or as planned.
    """
    gains = control.gains_from_bandwidth(30.0, damping_ratio=1.0)
    made = control.controller(
        model, "computed_torque", gains=gains, terms=control.Terms(use_friction=False)
    )
    plane = contact.prepare(model, line.plane.contacts)

    def torque(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        there = control.desired_contact(model, plane, [HELD], q, v, friction=RUBBING)
        height = contact.coordinates(model, plane, q, v).s[0] if seen else 0.0
        reference, state = line.at(t, height), gd.State(q, v)
        if hybrid:
            reference = reference._replace(contact=there)
            return made.step(made.start(), state, reference, 0.0)[1].command
        return made.step(made.start(), state, reference, 0.0)[1].command - there.force

    return torque


def main() -> None:
    """Draw the line four times; print and draw where it is and how the force is held."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FIGURES
    model = gd.load_model(ROOT / "urdf/elbow.urdf", ROOT / "urdf/elbow.drivetrain.yaml")
    normal = (-np.sin(SLOPE), 0.0, np.cos(SLOPE))
    place = gd.pose(model, START, "tip")[:3, 3]
    line = Line(model, contact.Surface("tip", place, normal, along=(0, 1, 0)))
    true = contact.Surface("tip", place + OFF * np.array(normal), normal, along=(0, 1, 0))
    begin = Line(model, true).posture(np.array([0.0, 0.0, BESIDE]))
    usual = model.with_coupling("diagonal")
    runs = {}
    for name, known, hybrid, measured in (
        ("hybrid", model, True, True),
        ("hybrid, armature model", usual, True, True),
        ("hybrid, height as planned", model, True, False),
        ("all coordinates, height as planned", model, False, False),
    ):
        tau = law(known, line, hybrid=hybrid, seen=measured)
        still = np.zeros(3)
        run = contact.simulate(
            model, true, begin, still, TIMES, tau, friction=RUBBING, rtol=1e-6, atol=1e-9
        )
        force = run.force[1:, 0]
        seen = contact.coordinates(model, line.plane, run.q, run.v).free.s[:, :2]
        print(
            f"{name}: force {force.min():.2f} to {force.max():.2f} N, mean {force.mean():.2f} N; "
            f"ends {1e3 * np.linalg.norm(seen[-1] - [LENGTH, 0.0]):.2f} mm from the line's end; "
            f"{', '.join(event.kind for event in run.events)}"
        )
        runs[name] = seen, run.force[:, 0]
    draw(runs, folder)


def draw(runs: dict[str, tuple[np.ndarray, np.ndarray]], folder: Path) -> None:
    """The line on the plane, and the force over the time."""
    import matplotlib.pyplot as plt

    figure, (above, below) = plt.subplots(2, 1, figsize=(8, 6), constrained_layout=True)
    above.plot([0.0, 1e3 * LENGTH], [0.0, 0.0], "k:", label="line")
    below.axhline(HELD, color="k", linestyle=":")
    for name, (places, force) in runs.items():
        above.plot(1e3 * places[:, 0], 1e3 * places[:, 1], label=name)
        below.plot(TIMES[1:], force[1:])
    above.set(xlabel="along the line [mm]", ylabel="across [mm]", title="on the plane")
    below.set(xlabel="time [s]", ylabel="force [N]", title="along the normal, 20 N wanted")
    above.legend()
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "line_on_a_plane.png", dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    main()
