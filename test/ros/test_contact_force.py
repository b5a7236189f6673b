"""The demo's arm presses on a wall over DDS: the feedforward node's contact force in MuJoCo."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from contact_bench import ALONG, BEGIN, HELD, PRESSING, SPEED, TILT, arm, line, tip
from feedforward_rig import trajectory
from naive.measure import holds
from plant_rig import NODE, PLANT, PlantRig, stamp
from ros_harness import Graph, Processes

pytest.importorskip("mujoco")

RATE, REST, LENGTH = 500.0, 0.8, 0.1  # [1/s], [s], [m]
FILES = {
    "urdf_path": "urdf/brisk6.urdf",
    "drivetrain": "urdf/brisk6.drivetrain.yaml",
}


class Pressing(PlantRig):
    """The plant with its wall, the node, and who wants the force."""

    def __init__(self, graph: Graph, processes: Processes, depth: int = 2000) -> None:
        from geometry_msgs.msg import WrenchStamped
        from rclpy.qos import QoSProfile
        from sensor_msgs.msg import JointState

        super().__init__(graph, processes)
        self.model = arm()
        queue = QoSProfile(depth=depth)
        self.states = graph.listen("/joint_states", JointState, queue)
        self.touch = graph.listen(f"{PLANT}/wall_wrench", WrenchStamped, queue)
        self.wrenches = graph.publisher(f"{NODE}/contact_wrench", WrenchStamped)

    def begin(self, off: float = 0.0, timeout: float = 1.0, **wall: Any) -> None:
        """Start plant and node; the wall is ``off`` lower than the tool's start.

        Times of silence [s] are by the wall clock, which a busy machine does not keep.
        """
        place = gd.pose(self.model, BEGIN, tip(self.model))[:3, 3] - off * TILT
        given = {"wall.frame": tip(self.model), "wall.point": place.tolist(),
                 "wall.normal": TILT.tolist(), "wall.friction": 0.2} | wall  # fmt: skip
        names = zip(self.model.joint_names, BEGIN.tolist(), strict=True)
        start = {f"initial.joint_{k}": None for k in range(1, 4)}
        start |= {f"initial.{name}": q for name, q in names}
        self.start_plant(driven=True, pace="lock_step", engine="mujoco", rate=RATE,
                         command="motor_torque", **FILES, **start, **given)  # fmt: skip
        pressing = {name.replace("__", "."): value for name, value in PRESSING.items()}
        self.start_node(**FILES, **pressing | {"use_sim_time": True, "update_rate": int(RATE),
                        "contact_force.timeout": timeout,
                        "safety.state_timeout": 2.0})  # fmt: skip
        self.until_said(self.node, "holding: no reference")
        self.graph.wait_for_subscribers(self.wrenches)
        self.graph.until(lambda: self.states.count > 0, "joint states")

    def follow(self, rest: float = REST) -> None:
        """Send the line; the tool rests before it."""
        route = line(self.model, BEGIN, ALONG, LENGTH, rest)
        rows = [(p.time, p.positions, p.velocities) for p in route.points]
        self.graph.wait_for_subscribers(self.goals)
        self.goals.publish(trajectory(list(self.model.joint_names), rows))
        self.graph.until(
            lambda: self.log.rfind("running:") > self.log.rfind("holding:"), "running"
        )

    @property
    def log(self) -> str:
        assert self.node is not None
        return self.node.output

    def wrench(self, size: float = HELD, **changes: Any) -> Any:
        """A force along the wall's normal; the wrench that the wall shall exert."""
        from geometry_msgs.msg import WrenchStamped

        message = WrenchStamped()
        message.header.frame_id = changes.get("frame", self.model.root)
        force, torque = changes.get("force", size * TILT), changes.get("torque", np.zeros(3))
        for target, values in ((message.wrench.force, force), (message.wrench.torque, torque)):
            target.x, target.y, target.z = (float(x) for x in values)
        return message

    def press_until(self, condition: Callable[[], Any], what: str, size: float = HELD) -> Any:
        """Want a force until a condition holds."""
        return self.graph.publish_until(
            self.wrenches, self.wrench(size), condition, what, period=0.02
        )

    def pushed(self, count: int = 1) -> np.ndarray:
        """The newest forces along the normal (count,)."""
        rows = [m.wrench.force for m in islice(reversed(self.touch.messages), count)]
        return np.array([[f.x, f.y, f.z] for f in rows]).reshape(-1, 3) @ TILT

    def place(self) -> np.ndarray:
        """Of the tool: off its start along the normal, and along the line (2,) [m]."""
        q = np.array(self.states.last.position)
        way = gd.pose(self.model, q, tip(self.model))[:3, 3]
        way = way - gd.pose(self.model, BEGIN, tip(self.model))[:3, 3]
        return np.array([TILT @ way, ALONG @ way])

    def recorded(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Times (k,), places (k, 2) as of ``place`` and forces along the normal (k,).

        Of the joint states some are lost where the plant runs ahead; they are interpolated.
        """
        states = sorted((stamp(m), tuple(m.position)) for m in list(self.states.messages))
        forces = {stamp(m): m.wrench.force for m in list(self.touch.messages)}
        known, path = np.array([t for t, _ in states]), np.array([q for _, q in states])
        times = np.array(sorted(t for t in forces if known[0] <= t <= known[-1]))
        q = np.column_stack([np.interp(times, known, column) for column in path.T])
        way = gd.pose(self.model, q, tip(self.model))[:, :3, 3]
        way = way - gd.pose(self.model, BEGIN, tip(self.model))[:3, 3]
        pushed = np.array([[forces[t].x, forces[t].y, forces[t].z] for t in times]) @ TILT
        return times, way @ np.array([TILT, ALONG]).T, pushed

    def carried(self, since: float, to: float) -> np.ndarray:
        """Forces (k,) that the joint torques shown between two times leave to the wall, at rest.

        M a + g = tau + J'F with no acceleration along the normal, J a = 0.
        """
        found = []
        for m in list(self.states.messages):
            if since <= stamp(m) <= to:
                q, tau = np.array(m.position), np.array(m.effort)
                row = TILT @ gd.jacobian(self.model, q, tip(self.model))[:3]
                half = np.linalg.solve(gd.mass_matrix(self.model, q), row)
                found.append(half @ (gd.gravity_forces(self.model, q) - tau) / (half @ row))
        return np.array(found)

    def until_pressed(self, size: float = HELD) -> None:
        """Press at rest until the force is there."""

        def there() -> bool:
            off = np.abs(self.pushed(50) / size - 1.0)
            return len(off) == 50 and bool(off.max() < 0.15)

        self.press_until(there, "the force at rest", size)

    def said(self, words: str, since: int) -> Callable[[], bool]:
        return lambda: words in self.log[since:]


@pytest.fixture
def rig(graph: Graph, processes: Processes) -> Pressing:
    """To look at the whole run: the plant may be far ahead of who listens."""
    return Pressing(graph, processes, 10_000)


@pytest.fixture
def shared(graph: Graph, processes: Processes) -> Pressing:
    """With the wall where it is planned; a plant in lock step must not outlive its test."""
    rig = Pressing(graph, processes)
    rig.begin()
    return rig


def means_of_a_second(time: np.ndarray, force: np.ndarray) -> np.ndarray:
    """Means of the forces that were received, over each second of the arm's time.

    The plant runs ahead of who listens: of its messages some are lost.
    """
    whole = [(time >= begin) & (time < begin + 1.0) for begin in time if begin + 1.0 <= time[-1]]
    assert whole
    assert min(chosen.sum() for chosen in whole) >= 10, "enough to judge by"
    return np.array([force[chosen].mean() for chosen in whole])


@pytest.mark.parametrize("off", [0.0, 3e-3], ids=["where planned", "3 mm lower"])
def test_it_slides_and_holds_the_force(rig: Pressing, off: float) -> None:
    """20 N at 50 mm/s on a wall with friction; at rest within the band of the stiction.

    The arm's time is that of the lock step, but the node's ramps go by the wall clock: the line
    is sent when the force is there, however long that takes.
    """
    rig.begin(off, timeout=10.0)
    rig.follow(rest=60.0)
    rig.until_pressed()
    rig.follow()
    rig.press_until(lambda: rig.place()[1] > 0.09, "the line's end")
    time, place, force = rig.recorded()
    leaves = time[place[:, 1] < 2e-4][-1]
    resting = (place[:, 1] < 2e-4) & (time > leaves - 0.1)
    moving = (place[:, 1] > 0.015) & (place[:, 1] < 0.085)
    second = means_of_a_second(time[moving], force[moving])
    name = f"contact over DDS, wall {1e3 * off:g} mm lower"
    assert np.polyfit(time[moving], place[moving, 1], 1)[0] == pytest.approx(SPEED, rel=0.02)
    for what, found, most in (
        ("mean force", force[moving].mean(), 0.05),
        ("worst mean of a second", second, 0.05),
        ("force at any time", force[moving], 0.1),
        ("force at rest, stiction", force[resting], 0.15),
        ("force in the joint torques at rest", rig.carried(leaves - 0.5, leaves - 0.3), 0.02),
    ):
        assert holds(f"{name}: {what} off 20 N", float(np.abs(found / HELD - 1.0).max()), most)
    assert place[-1, 0] == pytest.approx(-off - HELD / 1e5, abs=2e-5)


def test_the_input_ends(shared: Pressing) -> None:
    """The force ramps to zero, feedback returns, the motion goes on."""
    shared.follow(rest=60.0)
    shared.until_pressed()
    since = len(shared.log)
    shared.graph.until(shared.said("no message for 1 s, it ramps to zero", since), "the log")
    shared.graph.until(shared.said("contact force: none any more", since), "the end")
    shared.graph.until(lambda: abs(shared.pushed()[0]) < 5.0, "no force")
    assert "holding" not in shared.log[since:]
    shared.until_pressed()  # it comes again


def test_the_wall_goes(shared: Pressing) -> None:
    """The tool runs away no faster than max_speed, no farther than max_distance, and returns."""
    shared.follow(rest=60.0)
    shared.until_pressed()
    since, first = len(shared.log), shared.states.count
    shared.switch("remove_wall", True)
    try:
        shared.press_until(shared.said("contact force ended: the tool is 0.02", since), "the log")
        deepest = shared.graph.until(
            lambda: shared.place()[0] > -5e-3 and shared.states.count, "the tool's return"
        )
        q = np.array([m.position for m in list(shared.states.messages)])[first - deepest :]
        v = np.array([m.velocity for m in list(shared.states.messages)])[first - deepest :]
        jacobians = gd.jacobian(shared.model, q, tip(shared.model))[:, :3]
        speed = np.einsum("i,kij,kj->k", TILT, jacobians, v)
        off = gd.pose(shared.model, q, tip(shared.model))[:, :3, 3]
        off = (off - gd.pose(shared.model, BEGIN, tip(shared.model))[:3, 3]) @ TILT
        assert holds("contact lost over DDS: speed of the tool [m/s]", -speed.min(), 0.11)
        assert holds("contact lost over DDS: way of the tool [m]", -off.min(), 0.035)
        again = len(shared.log)
        shared.press_until(shared.said("is not accepted after the contact was lost", again), "it")
        assert "holding" not in shared.log[since:]
    finally:
        shared.switch("remove_wall", False)
    shared.press_until(shared.said("contact force: accepted again", since), "the log", size=0.0)
    shared.until_pressed()


def test_the_emergency_stop_under_force(shared: Pressing) -> None:
    from std_srvs.srv import SetBool

    def stop(pressed: bool) -> None:
        request = SetBool.Request(data=pressed)
        assert shared.graph.call(f"{NODE}/emergency_stop", SetBool, request).success

    shared.follow(rest=60.0)
    shared.until_pressed()
    since = len(shared.log)
    stop(True)
    shared.graph.until(shared.said("emergency stop; remove", since), "the stop")
    shared.press_until(shared.said("while the arm follows no trajectory", since), "the refusal")
    shared.press_until(lambda: abs(shared.pushed()[0]) < 6.0, "no force")
    # A trajectory begins at the arm's velocity: from there to a first point 60 s ahead even a slow
    # turn of the wrist leads far away from the wall.
    shared.graph.until(lambda: np.abs(shared.states.last.velocity).max() < 1e-3, "the arm at rest")
    stop(False)
    shared.follow(rest=60.0)
    shared.until_pressed()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"frame": "wall"}, "header.frame_id: there is no link 'wall'"),
        ({"frame": ""}, "header.frame_id: there is no link ''"),
        ({"force": [0.0, float("nan"), 0.0]}, "~/contact_wrench: is not finite; check its sender"),
        ({"force": [0.0, 0.0, 41.0]}, "a force of 41 N, and contact_force.max_force is 40"),
        ({"torque": [0.1, 0.0, 0.0]}, "a torque of 0.1 N m, and contact_force.max_torque is 0"),
    ],
)
def test_what_is_refused(shared: Pressing, changes: dict[str, Any], words: str) -> None:
    shared.follow(rest=60.0)
    shared.until_pressed(10.0)
    since = len(shared.log)
    shared.graph.publish_until(
        shared.wrenches,
        shared.wrench(**changes),
        lambda: words in shared.log[since:],
        repr(words),
        period=0.02,
    )
    shared.until_pressed(10.0)


def test_the_network_cannot_raise_the_bound(shared: Pressing) -> None:
    for name, value in (("max_force", 50.0), ("max_speed", 1.0), ("timeout", 5.0)):
        result = shared.graph.set_parameters(NODE, {f"contact_force.{name}": value})
        assert not result.successful
        assert "and while the node runs it must be" in result.reason
    shared.follow(rest=60.0)
    shared.until_pressed()
    assert shared.graph.set_parameters(NODE, {"contact_force.max_force": 12.0}).successful
    lower = lambda: np.abs(shared.pushed(30) / 12.0 - 1.0).max() < 0.2  # noqa: E731
    message = shared.wrench(12.0)
    shared.graph.publish_until(shared.wrenches, message, lower, "12 N", period=0.02)
    assert shared.graph.set_parameters(NODE, {"contact_force.max_force": 40.0}).successful


def test_a_damaged_message_and_the_node_s_end(shared: Pressing) -> None:
    """It brakes and leaves gravity's torque, whatever is wanted."""
    import signal

    shared.follow(rest=60.0)
    shared.until_pressed()
    shared.wrenches.publish(b"\x00\x01\x00\x00\x01")
    since = len(shared.log)
    shared.until_pressed()
    node = shared.node
    assert node is not None
    node.signal(signal.SIGINT)
    shared.press_until(lambda: not node.running, "the node's end")
    assert node.wait(5.0) == 0, node.report()
    assert "braking: the node ends" in shared.log[since:]
