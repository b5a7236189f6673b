"""Random gear trains on random trees, as records, with the rolling conditions they must obey.

``random_gears(seed, ...)`` makes one, ``gear_trains()`` is the hypothesis strategy. What the
trains consist of is kept apart as ``Roll``s, in terms of bodies and their axes only, so that
a solution can be judged by the bodies' angular velocities.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from hypothesis import strategies as st

from geared_dynamics.description.drive_records import (
    DrivetrainRecord,
    HarmonicRecord,
    MeshRecord,
    MotorRecord,
    PlanetaryRecord,
    SpinRecord,
    WheelRecord,
)
from geared_dynamics.description.robot_records import (
    InertiaRecord,
    JointRecord,
    LinkRecord,
    MimicRecord,
    RobotRecord,
)
from random_parts import Array, rotation, unit_vector

Kind = Literal["external", "internal"]
Axis = tuple[str, tuple[float, ...]]  # a frame and a direction fixed in it
MEMBERS = ("sun", "ring", "carrier")


@dataclass(frozen=True)
class Roll:
    """(a - arm).axis_a size_a = sign (b - arm).axis_b size_b, and what is known of the pitch.

    ``sign`` None: from ``kind`` and the angle of the axes. ``module`` [m]: pitch radius per
    size where the wheels' centres are placed accordingly, 0 where they are not.
    """

    members: tuple[str, str]
    arm: str
    sizes: tuple[float, float]
    axes: tuple[Axis, Axis]
    kind: Kind
    sign: int | None = None
    module: float = 0.0


@dataclass(frozen=True)
class GearCase:
    """A robot, its unsolved drivetrain, and the rolling conditions."""

    robot: RobotRecord
    drivetrain: DrivetrainRecord
    rolls: tuple[Roll, ...]
    label: str

    def load(self) -> Any:  # the model's type belongs to the package under test
        """Build the model."""
        from naive.shafts import built

        return built(self.robot, self.drivetrain, gravity=(1.0, -3.0, -9.0))

    def __repr__(self) -> str:
        """Show how to make the case again."""
        return self.label


def vec(values: Any) -> Any:
    """A tuple of plain numbers, nested like the array."""
    array = np.asarray(values, float)
    return tuple(vec(row) for row in array) if array.ndim > 1 else tuple(array.tolist())


def body_wheel(
    name: str = "", carrier: str = "", *, mass: float = 0.3, **given: Any
) -> WheelRecord:
    """A wheel with some inertia; without carrier it is a gear set's."""
    given = {"axis": (0.0, 0.0, 1.0), "position": (0.0, 0.0, 0.0), "axial": 2e-3, **given}
    return WheelRecord(name, carrier, mass=mass, transverse=0.6 * given["axial"], **given)


def serial_robot(*joints: tuple[str, Any, Any]) -> RobotRecord:
    """Links base, link_1, ... with joints joint_1, ... of (kind, axis, position), no turns."""
    names = ["base", *(f"link_{k + 1}" for k in range(len(joints)))]
    inertia = InertiaRecord(2.0, (0.1, 0.0, -0.1), vec(np.diag([0.03, 0.04, 0.05])))
    records = [
        JointRecord(
            name=f"joint_{k + 1}",
            kind=kind,  # type: ignore[arg-type]
            parent=names[k],
            child=names[k + 1],
            position=vec(position),
            axis=vec(np.array(axis) / np.linalg.norm(axis)),
        )
        for k, (kind, axis, position) in enumerate(joints)
    ]
    return RobotRecord(
        "arm", "<records>", tuple(LinkRecord(name, inertia) for name in names), tuple(records)
    )


@dataclass
class Workshop:
    """A robot and its trains under construction; places are in the root frame at q = 0."""

    rng: np.random.Generator
    links: list[LinkRecord] = field(default_factory=list)
    joints: list[JointRecord] = field(default_factory=list)
    poses: dict[str, tuple[Array, Array]] = field(default_factory=dict)
    wheels: list[WheelRecord] = field(default_factory=list)
    spins: list[SpinRecord] = field(default_factory=list)
    meshes: list[MeshRecord] = field(default_factory=list)
    planetary: list[PlanetaryRecord] = field(default_factory=list)
    harmonic: list[HarmonicRecord] = field(default_factory=list)
    rolls: list[Roll] = field(default_factory=list)

    def add_link(self, name: str) -> None:
        """A heavy link."""
        moments = self.rng.uniform(0.05, 0.1, 3)
        com = vec(self.rng.uniform(-0.2, 0.2, 3))
        inertia = InertiaRecord(float(self.rng.uniform(1, 4)), com, vec(np.diag(moments)))
        self.links.append(LinkRecord(name, inertia))

    def incoming(self, link: str) -> JointRecord | None:
        """The movable joint that moves a link, through fixed ones."""
        for joint in self.joints:
            if joint.child == link:
                return self.incoming(joint.parent) if joint.kind == "fixed" else joint
        return None

    def add_joint(self, kind: str, branched: bool, leader: str | None) -> None:
        """Hang a link on another one; half of the axes are parallel to the one before."""
        k = len(self.joints)
        parent = self.links[self.rng.integers(k + 1) if branched else -1].name
        R, child = rotation(self.rng.uniform(-3, 3, 3)), f"link_{k}"
        before, axis = self.incoming(parent), unit_vector(self.rng)
        turn, at = self.poses[parent]
        if before is not None and self.rng.random() < 0.5:
            moved, _ = self.poses[before.child]
            axis = (turn @ R).T @ moved @ np.array(before.axis) * self.rng.choice([-1, 1])
        mimic = (
            None if leader is None else MimicRecord(leader, float(self.rng.choice([-0.53, 1.9])))
        )
        place = self.rng.uniform(-0.4, 0.4, 3)
        joint = JointRecord(
            f"joint_{k}", kind, parent, child, vec(R), vec(place), vec(axis), mimic
        )  # type: ignore[arg-type]
        self.joints.append(joint)
        self.add_link(child)
        self.poses[child] = (turn @ R, at + turn @ place)

    def line(self, joint: JointRecord) -> tuple[Array, Array]:
        """Point and direction of a joint's axis."""
        turn, at = self.poses[joint.child]
        return at, turn @ np.array(joint.axis)

    def put(self, carrier: str, point: Array, direction: Array) -> str:
        """A wheel of random inertia on a link, its axis either way round."""
        name, (turn, at) = f"wheel_{len(self.wheels)}", self.poses[carrier]
        self.wheels.append(
            body_wheel(
                name,
                carrier,
                mass=float(self.rng.uniform(0.1, 0.5)),
                axis=vec(turn.T @ direction * self.rng.choice([-1, 1])),
                position=vec(turn.T @ (point - at)),
                axial=float(10 ** self.rng.uniform(-4, -2)),
            )
        )
        return name

    def axis_of(self, name: str, joint: JointRecord | None) -> Axis:
        """Direction of a wheel's own axis, or of the joint at a link."""
        for wheel in self.wheels:
            if wheel.name == name:
                return wheel.carrier, wheel.axis
        assert joint is not None
        return joint.child, joint.axis

    def join(self, new: str, old: str, arm: str, joint: JointRecord | None) -> None:
        """Mesh a new wheel with what is there, as a gear pair with centres to match if it can."""
        axes = (self.axis_of(new, None), self.axis_of(old, joint))
        one, other = (self.poses[frame][0] @ np.array(axis) for frame, axis in axes)
        teeth = vec(self.rng.integers(12, 90, 2))
        if abs(one @ other) < 1 - 1e-9:
            sign = int(self.rng.choice([-1, 1]))
            self.meshes.append(MeshRecord((new, old), arm, teeth, sign=sign))  # type: ignore[arg-type]
            self.rolls.append(Roll((new, old), arm, teeth, axes, "external", sign))
            return
        gap = self.gap(new, old, joint)
        kind: Kind = "external" if gap > 0.01 and self.rng.random() < 0.7 else "internal"
        module = gap / sum(teeth) if kind == "external" else 0.0
        wraps = kind == "internal" and gap > 0.01
        self.meshes.append(MeshRecord((new, old), arm, teeth, kind, wraps=wraps))
        self.rolls.append(Roll((new, old), arm, teeth, axes, kind, module=module))

    def gap(self, new: str, old: str, joint: JointRecord | None) -> float:
        """Distance of two parallel axes."""
        points = []
        for name in (new, old):
            wheel = next((w for w in self.wheels if w.name == name), None)
            if wheel is not None:
                turn, at = self.poses[wheel.carrier]
                points.append(at + turn @ np.array(wheel.position))
                axis = turn @ np.array(wheel.axis)
            elif joint is not None:
                points.append(self.line(joint)[0])
        return float(np.linalg.norm(np.cross(points[0] - points[1], axis)))

    def add_train(self) -> None:
        """From a link over idlers, and pulleys on the joints before, to a rotor."""
        turning = [j for j in self.joints if j.kind in ("revolute", "continuous")]
        joint = turning[self.rng.integers(len(turning))]
        (point, direction), old, arm = self.line(joint), joint.child, joint.parent
        last: JointRecord | None = joint
        while True:
            for _ in range(self.rng.integers(3)):
                beside = np.cross(direction, unit_vector(self.rng)) * 0.2
                axis = direction if self.rng.random() < 0.7 else unit_vector(self.rng)
                point, direction = point + beside, axis
                new = self.put(arm, point, direction)
                self.join(new, old, arm, last)
                old, last = new, None
            before = self.incoming(arm)
            if before is None or before.kind == "prismatic" or self.rng.random() < 0.3:
                break
            origin, direction = self.line(before)
            point = origin + self.rng.uniform(-0.1, 0.1) * direction
            carrier = str(self.rng.choice([arm, before.parent]))
            new = self.put(carrier, point, direction)
            self.join(new, old, arm, last)
            old, last, arm = new, None, before.parent
        if last is not None:
            beside = np.cross(direction, unit_vector(self.rng)) * 0.2
            self.join(self.put(arm, point + beside, direction), old, arm, last)

    def add_screw(self) -> None:
        """A wheel with a ratio, also of a sliding joint, and another one geared to it."""
        joint = self.joints[self.rng.integers(len(self.joints))]
        if joint.kind == "fixed":
            return
        point, direction = self.line(joint)
        first = self.put(joint.parent, point, direction)
        self.spins.append(SpinRecord(first, ((joint.name, float(self.rng.uniform(-90, 90))),)))
        second = self.put(
            joint.parent, point + 0.1 * np.cross(direction, [0.6, 0.8, 0]), direction
        )
        self.join(second, first, joint.parent, None)

    def add_planetary(self, *, stages: int) -> None:
        """Planetary stages at a joint, the first one driven by a sun; then a pinion on that."""
        turning = [j for j in self.joints if j.kind in ("revolute", "continuous")]
        joint = turning[self.rng.integers(len(turning))]
        housing = joint.child if self.rng.random() < 0.3 else joint.parent
        driven = joint.parent if housing == joint.child else joint.child
        (point, direction), (turn, at) = self.line(joint), self.poses[housing]
        before: str | None = None
        for stage in range(stages):
            last = stage == stages - 1
            fixed, put_in, out = (str(m) for m in self.rng.permutation(MEMBERS))
            sun, planet = (int(z) for z in 6 * self.rng.integers(3, 8, 2))
            ring, n = sun + 2 * planet, int(self.rng.choice([3, 4]) if planet <= sun else 3)
            n = n if (sun + ring) % n == 0 and planet < 2 * sun else 3
            name = f"set_{len(self.planetary)}"
            members: list[tuple[str, WheelRecord | str]] = [(put_in, before or body_wheel())]
            if not last:
                members.append((out, body_wheel(mass=0.4)))
            self.planetary.append(
                PlanetaryRecord(
                    name, housing, fixed, put_in, out, (sun, planet, ring), n,  # type: ignore[arg-type]
                    planet=body_wheel(mass=0.05, axial=3e-4),
                    members=tuple(members),
                    joint=joint.name if last else None,
                    radius=0.1 if planet < 2 * sun else 0.2,
                    phase=float(self.rng.uniform(0, 6)),
                    axis=None if last else vec(turn.T @ direction),
                    position=None if last else vec(turn.T @ (point - at)),
                )
            )  # fmt: skip
            bodies = {fixed: housing, put_in: before or f"{name}.{put_in}"}
            bodies[out] = driven if last else f"{name}.{out}"
            self.roll_set(bodies, name, (sun, planet, ring), n, joint)
            before = bodies[out]

    def roll_set(
        self, bodies: dict[str, str], name: str, teeth: tuple[int, int, int], n: int,
        joint: JointRecord,
    ) -> None:  # fmt: skip
        """Every planet rolls on the sun and in the ring."""
        sun, planet, ring = teeth
        axes = ((joint.child, joint.axis), (joint.child, joint.axis))
        for k in range(n):
            own, arm = f"{name}.planet_{k + 1}", bodies["carrier"]
            self.rolls.append(Roll((bodies["sun"], own), arm, (sun, planet), axes, "external"))
            self.rolls.append(Roll((own, bodies["ring"]), arm, (planet, ring), axes, "internal"))

    def add_harmonic(self) -> None:
        """A harmonic drive at a joint, on either side of it."""
        turning = [j for j in self.joints if j.kind in ("revolute", "continuous")]
        joint = turning[self.rng.integers(len(turning))]
        inner, name = int(2 * self.rng.integers(40, 90)), f"drive_{len(self.harmonic)}"
        housing = joint.child if self.rng.random() < 0.3 else joint.parent
        driven = joint.parent if housing == joint.child else joint.child
        fixed: Any = self.rng.choice(["circular_spline", "flexspline"])
        generator = body_wheel(axial=1e-4)
        self.harmonic.append(
            HarmonicRecord(name, housing, joint.name, str(fixed), inner, inner + 2, generator)  # type: ignore[arg-type]
        )
        members = (housing, driven) if fixed == "flexspline" else (driven, housing)
        axes = ((joint.child, joint.axis), (joint.child, joint.axis))
        arm = f"{name}.wave_generator"
        self.rolls.append(Roll(members, arm, (inner, inner + 2), axes, "internal"))


def random_gears(
    seed: int = 0,
    *,
    joints: int = 4,
    trains: int = 2,
    screws: int = 1,
    stages: int = 1,
    harmonics: int = 1,
    branched: bool = False,
    fixed: bool = False,
    prismatic: bool = False,
    mimic: bool = False,
) -> GearCase:
    """Make a random robot with gear trains.

    Args:
        seed: Everything below it is drawn from this seed.
        joints: Number of joints; the first one turns.
        trains: Number of trains of idlers, pulleys on joints, and bevels.
        screws: Number of gear pairs one wheel of which has a ratio.
        stages: Planetary stages at one joint.
        harmonics: Number of harmonic drives.
        branched: A tree instead of a serial chain.
        fixed: Some joints are fixed.
        prismatic: Some joints slide.
        mimic: Some joints follow the first one.
    """
    rng = np.random.default_rng(seed)
    shop = Workshop(rng, poses={"base": (np.eye(3), np.zeros(3))})
    shop.add_link("base")
    for k in range(joints):
        kinds = ["revolute", "continuous"] + ["prismatic"] * prismatic + ["fixed"] * fixed
        kind = "revolute" if k == 0 else str(rng.choice(kinds))
        leader = "joint_0" if mimic and k and kind != "fixed" and rng.random() < 0.3 else None
        shop.add_joint(kind, branched, leader)
    for _ in range(trains):
        shop.add_train()
    for _ in range(screws):
        shop.add_screw()
    if stages:
        shop.add_planetary(stages=stages)
    for _ in range(harmonics):
        shop.add_harmonic()
    motors = [MotorRecord(f"motor_{k}", w.name) for k, w in enumerate(shop.wheels[::2])]
    motors += [MotorRecord(f"motor_{d.name}", f"{d.name}.wave_generator") for d in shop.harmonic]
    drivetrain = DrivetrainRecord(
        "trains",
        wheels=tuple(shop.wheels),
        spins=tuple(shop.spins),
        meshes=tuple(shop.meshes),
        planetary=tuple(shop.planetary),
        harmonic=tuple(shop.harmonic),
        motors=tuple(motors),
    )
    label = (
        f"random_gears({seed}, joints={joints}, trains={trains}, screws={screws}, "
        f"stages={stages}, harmonics={harmonics}, branched={branched}, fixed={fixed}, "
        f"prismatic={prismatic}, mimic={mimic})"
    )
    robot = RobotRecord("random", "<records>", tuple(shop.links), tuple(shop.joints))
    return GearCase(robot, drivetrain, tuple(shop.rolls), label)


def gear_trains(**options: Any) -> st.SearchStrategy[GearCase]:
    """Strategy of random trains; ``options`` are keywords of random_gears that shall not vary."""
    drawn: dict[str, Any] = {
        "seed": st.integers(0, 2**20),
        "joints": st.integers(1, 6),
        "trains": st.integers(0, 3),
        "screws": st.integers(0, 1),
        "stages": st.integers(0, 2),
        "harmonics": st.integers(0, 1),
        **dict.fromkeys(("branched", "fixed", "prismatic", "mimic"), st.booleans()),
    }
    drawn.update({name: st.just(value) for name, value in options.items()})
    return st.builds(random_gears, **drawn)
