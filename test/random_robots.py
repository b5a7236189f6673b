"""Random robots for property tests: a URDF's text and a drivetrain's content from a seed.

``random_robot(seed, ...)`` makes one, ``robots()`` is the hypothesis strategy.
Everything is physically valid: each link and its included wheels are made of
point masses and discs, so that the mass matrix is positive definite.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from random_parts import Arm, Body, add_joints, add_wheels

__all__ = ["RobotCase", "random_robot", "random_state", "robots"]


@dataclass(frozen=True)
class RobotCase:
    """A random robot.

    Attributes:
        urdf: The URDF's text, joints and links in an order of its own.
        drivetrain: Content of the drivetrain file.
        gravity: In the root link's frame [m/s^2].
        joint_names: Coordinates in the order of the file (movable, not mimic).
        label: How to make it again.
    """

    urdf: str
    drivetrain: dict[str, Any]
    gravity: tuple[float, float, float]
    joint_names: tuple[str, ...]
    label: str

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return len(self.joint_names)

    def load(self) -> Any:  # the model's type belongs to the package under test
        """Load the robot with its drivetrain and gravity."""
        import geared_dynamics as gd

        return gd.load_model(self.urdf, self.drivetrain, gravity=self.gravity)

    def contained(self) -> dict[str, Any]:
        """The drivetrain with those wheels alone that the links contain."""
        wheels = {k: w for k, w in self.drivetrain["wheels"].items() if w["included_in_link"]}
        spins = [spin for spin in self.drivetrain["spins"] if spin["wheel"] in wheels]
        return {**self.drivetrain, "wheels": wheels, "spins": spins}

    def __repr__(self) -> str:
        """Show how to make the robot again instead of its text."""
        return self.label


def random_robot(
    seed: int = 0,
    *,
    joints: int = 6,
    mimics: int = 0,
    fixed: int = 0,
    wheels: int = 6,
    branched: bool = False,
    prismatic: bool = True,
    massless: bool = False,
    included: bool = True,
    coupled: bool = True,
    shuffled: bool = True,
) -> RobotCase:
    """Make a random robot.

    Args:
        seed: Everything below it is drawn from this seed.
        joints: Number of coordinates, 1 or more.
        mimics: Number of mimic joints; leaders may sit in another branch or further out.
        fixed: Number of fixed joints in between; their links have mass and may carry wheels.
        wheels: Number of wheels, carried by any link, also the root.
        branched: A tree instead of a serial chain.
        prismatic: Some of the joints slide.
        massless: Some of the inner links have no inertial.
        included: Some wheels are already contained in their link's inertial.
        coupled: Some wheels follow several joints.
        shuffled: The file lists links and joints in an arbitrary order.
    """
    rng = np.random.default_rng(seed)
    arm = Arm(bodies=[Body("base")])
    add_joints(
        arm, rng, joints=joints, mimics=mimics, fixed=fixed, branched=branched, prismatic=prismatic
    )
    if massless:
        parent = {joint.child: joint.parent for joint in arm.joints}
        light: set[str] = set()
        for body in arm.inner_bodies():
            # Never two in a row: joints may all slide, and four cannot share one mass.
            body.massless = body.name != "base" and rng.random() < 0.3
            body.massless = body.massless and parent[body.name] not in light
            light |= {body.name} if body.massless else set()
    add_wheels(arm, rng, count=wheels, included=included, coupled=coupled)
    if shuffled:
        arm.joints = [arm.joints[i] for i in rng.permutation(len(arm.joints))]
        arm.bodies = [arm.bodies[i] for i in rng.permutation(len(arm.bodies))]
    names = tuple(j.name for j in arm.joints if j.kind != "fixed" and j.leader is None)
    gravity = tuple(float(x) for x in rng.uniform(-7, 7, 3))
    label = (
        f"random_robot({seed}, joints={joints}, mimics={mimics}, fixed={fixed}, wheels={wheels}, "
        f"branched={branched}, prismatic={prismatic}, massless={massless}, included={included}, "
        f"coupled={coupled}, shuffled={shuffled})"
    )
    return RobotCase(arm.urdf(), arm.drivetrain(), gravity, names, label)  # type: ignore[arg-type]


def robots(
    *,
    max_joints: int = 8,
    max_mimics: int = 2,
    max_fixed: int = 2,
    max_wheels: int = 10,
    **options: Any,  # forwarded: any keyword of random_robot that shall not vary
) -> st.SearchStrategy[RobotCase]:
    """Strategy of random robots; it shrinks to few joints, few wheels and plain options."""
    flag = st.booleans()
    drawn: dict[str, Any] = {
        "seed": st.integers(0, 2**20),
        "joints": st.integers(1, max_joints),
        "mimics": st.integers(0, max_mimics),
        "fixed": st.integers(0, max_fixed),
        "wheels": st.integers(0, max_wheels),
        "branched": flag,
        "prismatic": flag,
        "massless": flag,
        "included": flag,
        "coupled": flag,
        "shuffled": flag,
    }
    drawn.update({name: st.just(value) for name, value in options.items()})
    return st.builds(random_robot, **drawn)


def random_state(
    n: int, seed: int = 0, *, batch: tuple[int, ...] = ()
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random q, v, a of shape (*batch, n): within 3, 2 and 4 [rad or m, per s, per s^2]."""
    rng = np.random.default_rng(seed)
    q, v, a = (scale * rng.uniform(-1, 1, (*batch, n)) for scale in (3.0, 2.0, 4.0))
    return q, v, a
