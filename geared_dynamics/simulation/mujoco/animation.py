"""The arm swinging to and fro, as pictures or in MuJoCo's viewer."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.model import GearedModel
from geared_dynamics.simulation.mujoco.mechanism import MujocoMechanism
from geared_dynamics.simulation.mujoco.package import mujoco
from geared_dynamics.simulation.mujoco.picture import (
    Camera,
    Pixels,
    Shapes,
    Stage,
    shapes_of,
)

PERIOD = 4.0  # after which the motion repeats [s]
SWING = 0.7, 0.12  # most of a joint that turns [rad], that slides [m]
PART = 0.4  # of the range between a joint's limits
LEAN = 0.25  # of it, where a joint's motion has its middle: arms look better bent
NARROWEST = 1.25  # width over height of pictures
FILLED = 0.95  # of the picture
SURVEY = 12  # pictures from which the camera's place is found


class Animation:
    """An arm that moves along a path that repeats; a picture of its bodies, not of forces.

    Attributes:
        model: Geared model.
        arm: Its bodies.
    """

    def __init__(self, model: GearedModel) -> None:
        """Build the bodies; those without mass and inertia are drawn as well."""
        self.model = model
        self.arm = MujocoMechanism(model, 1e-3, friction=False, drawn=True)
        self._middle, self._amplitude = swings(model)
        self._survey()

    def position(self, t: float) -> Array:
        """Joint position (n,) at a time [s]."""
        k = np.arange(self.model.n)
        beat = 1 + k % 2  # whole periods, so that the end meets the beginning
        angle = 2.0 * np.pi * beat * t / PERIOD + 1.3 * k
        return np.asarray(self._middle + self._amplitude * np.sin(angle))

    def put(self, t: float) -> None:
        """Put the bodies where they are at a time [s]."""
        q = self.position(t)
        x = np.concatenate([q, self.model.elasticity.rigid @ q])
        self.arm.place(x, np.zeros(len(x)))
        mujoco().mj_kinematics(self.arm.mj, self.arm.data)

    def shapes(self, t: float) -> Shapes:
        """What there is to see at a time [s]."""
        self.put(t)
        return shapes_of(self.arm.mj, self.arm.data)

    def _survey(self) -> None:
        """Find a place for the camera from which the whole motion is seen."""
        views = [self.shapes(t) for t in np.linspace(0.0, PERIOD, SURVEY, endpoint=False)]
        place = np.concatenate([view.place for view in views])
        reach = np.concatenate([view.reach for view in views])
        low = np.array([*place[:, :2].min(axis=0), (place[:, 2] - reach).min()])
        high = np.array([*place[:, :2].max(axis=0), (place[:, 2] + reach).max()])
        self.floor = min(lowest(view) for view in views)
        low[2] = self.floor
        camera = Camera(0.5 * (low + high), 1.0)
        right, up, back = ((place - camera.target) @ camera.axes).T
        wide = np.maximum((np.abs(right) + reach) / NARROWEST, np.abs(up) + reach)
        distance = (back + wide / (FILLED * np.tan(0.5 * camera.view))).max()
        self.camera = Camera(camera.target, float(distance))

    def picture(self, t: float, *, width: int, height: int) -> Pixels:
        """The arm at a time.

        Args:
            t: [s].
            width: [pixels].
            height: [pixels].
        """
        return self._stage(width, height).draw(self.shapes(t))

    def pictures(self, *, rate: float, width: int, height: int) -> Iterator[Pixels]:
        """One period.

        Args:
            rate: Pictures per second.
            width: [pixels].
            height: [pixels].
        """
        stage = self._stage(width, height)
        for k in range(round(PERIOD * rate)):
            yield stage.draw(self.shapes(k / rate))

    def _stage(self, width: int, height: int) -> Stage:
        """The floor and the sky."""
        return Stage(self.camera, width=width, height=height, floor=self.floor)


def lowest(shapes: Shapes) -> float:
    """Height of the lowest point of any shape [m], or somewhat below."""
    down = np.abs(shapes.turn[:, 2])
    round_ = np.linalg.norm(down[:, :2], axis=1) * shapes.size[:, 0]
    return float((shapes.place[:, 2] - round_ - down[:, 2] * shapes.size[:, 1]).min())


def swings(model: GearedModel) -> tuple[Array, Array]:
    """Middle and amplitude of each joint's motion (n,), within its limits."""
    limits = {joint.name: joint.limit for joint in model.robot.joints}
    slides = {int(d) for d in model.tree.dof[model.tree.prismatic.astype(bool)]}
    middle, amplitude = np.zeros((2, model.n))
    for d, name in enumerate(model.joint_names):
        most, limit = SWING[1 if d in slides else 0], limits[name]
        middle[d], amplitude[d] = 0.0, most
        if limit is not None and limit.lower is not None and limit.upper is not None:
            half = 0.5 * (limit.upper - limit.lower)
            middle[d] = 0.5 * (limit.upper + limit.lower) + LEAN * min(half, 2.0 * most)
            amplitude[d] = min(most, PART * half)
    return middle, amplitude
