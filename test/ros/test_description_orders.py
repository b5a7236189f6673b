"""Descriptions, transitions and parameters in any order, against what the node's state should be.

The nodes stand in the test's process and are never spun: each message, request and look of the
watch comes when the test calls it, and models are built beside the loop until the test lets them.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from feedforward_rig import DRIVETRAIN, URDF
from long_cases import cases
from observer_node_arm import drives

TEXT = URDF.read_text("utf-8")
MOON, EARTH = [0.0, 0.0, -1.62], [0.0, 0.0, -9.81]
KINDS = ("feedforward", "observer")


def scaled(factor: float) -> str:
    """The arm with other masses."""
    pattern = r'mass value="([\d.]+)"'
    return re.sub(pattern, lambda m: f'mass value="{factor * float(m[1]):.9g}"', TEXT)


LIKE, HEAVY, WRONG = scaled(1.001), scaled(1.3), "<robot"
MASS = {TEXT: 1.0, LIKE: 1.001, HEAVY: 1.3}


class Building:
    """Stands before what builds models: each build waits until it may go on."""

    def __init__(self, build: Callable[..., Any]) -> None:
        self._build = build
        self._gates: list[threading.Event] = []

    def __call__(self, *arguments: Any) -> Any:
        gate = threading.Event()
        self._gates.append(gate)
        assert gate.wait(10.0)
        return self._build(*arguments)

    def finish(self, node: Any) -> None:
        """Let builds end until none is under way, with the node's look after each."""
        builder = None
        while builder is not node.description._builder or builder.busy:
            builder = node.description._builder
            thread = builder._thread
            while thread is not None and thread.is_alive():
                for gate in self._gates:
                    gate.set()
                thread.join(0.002)
            node.watch()


class Bench:
    """A node, and what its state should be."""

    def __init__(self, kind: str, domain: int, building: Building, **given: Any) -> None:
        from rclpy.context import Context
        from rclpy.parameter import Parameter

        from geared_dynamics.ros.elastic_observer import ElasticObserverNode
        from geared_dynamics.ros.feedforward import FeedforwardNode

        made = {"feedforward": FeedforwardNode, "observer": ElasticObserverNode}[kind]
        values: dict[str, Any] = {
            "drivetrain": drives() if kind == "observer" else str(DRIVETRAIN)
        }
        values |= {"mode": "stream"} if kind == "feedforward" else {}
        values |= {name.replace("__", "."): value for name, value in given.items()}
        self.context, self.building = Context(), building
        self.context.init(domain_id=domain)
        overrides = [Parameter(name, value=value) for name, value in values.items()]
        self.node: Any = made(context=self.context, parameter_overrides=overrides)
        self.node.start()
        self.state, self.auto = "unconfigured", values.get("autostart", True)
        self.known: str | None = None
        self.gravity = EARTH

    def close(self) -> None:
        """Leave the graph."""
        self.building.finish(self.node)
        self.node.end()
        self.node.destroy_node()
        self.context.shutdown()

    # -- what may happen ---------------------------------------------------------------------

    def publish(self, text: str) -> None:
        """A description comes."""
        from std_msgs.msg import String

        self.node.description._on_message(String(data=text))
        self.known = text
        if self.state == "unconfigured" and self.auto and text != WRONG:
            self.state, self.auto = "active", False

    def request(self, transition: str) -> bool:
        """A client asks for a transition."""
        from lifecycle_msgs.srv import ChangeState

        request, response = ChangeState.Request(), ChangeState.Response()
        request.transition.label = transition
        answer = self.node._service_change_state.callback(request, response)
        good = self.known not in (None, WRONG)
        after = {
            ("configure", "unconfigured"): "inactive" if good else "unconfigured",
            ("activate", "inactive"): "active",
            ("deactivate", "active"): "inactive",
            ("cleanup", "inactive"): "unconfigured",
        }.get((transition, self.state))
        if after not in (None, "unconfigured") and self.state != "active":
            self.auto = False
        self.state = after or self.state
        return bool(answer.success)

    def set_gravity(self, gravity: list[float]) -> None:
        """A parameter that is read at the configuration changes, where it may."""
        from rclpy.parameter import Parameter

        done = self.node.set_parameters([Parameter("gravity", value=gravity)])[0].successful
        assert done is (self.state == "unconfigured")
        self.gravity = gravity if done else self.gravity

    # -- what must hold ----------------------------------------------------------------------

    def check(self) -> None:
        """The node is in its state, and its model of its present parameters."""
        node = self.node
        assert (node.state_label, node.active) == (self.state, self.state == "active")
        assert (node.loop is None) is (node.model is None) is (self.state == "unconfigured")
        if node.model is not None:
            np.testing.assert_allclose(node.model.gravity, self.gravity, atol=1e-12)
            arm = node.loop.setup
            used = arm.model if hasattr(arm, "model") else arm.bare
            np.testing.assert_allclose(used.gravity, self.gravity, atol=1e-12)

    def weight(self) -> float:
        """Mass of a link of the model in use, as part of that of the first description."""
        tree = self.node.model.tree
        mass = dict(zip(tree.names, tree.parameters[:, 0], strict=True))["link_1"]
        return float(mass)


@pytest.fixture
def building(monkeypatch: pytest.MonkeyPatch) -> Building:
    from geared_dynamics.ros import model_node

    made = Building(model_node.rebuilt)
    monkeypatch.setattr(model_node, "rebuilt", made)
    return made


@pytest.fixture
def bench(ros_domain: int, building: Building) -> Iterator[Callable[..., Bench]]:
    made: list[Bench] = []

    def make(kind: str, **given: Any) -> Bench:
        made.append(Bench(kind, ros_domain, building, **given))
        return made[-1]

    yield make
    for each in made:
        each.close()


ACTS: dict[str, Callable[[Bench], object]] = {
    "description": lambda bench: bench.publish(TEXT),
    "nearly the same": lambda bench: bench.publish(LIKE),
    "heavier": lambda bench: bench.publish(HEAVY),
    "wrong": lambda bench: bench.publish(WRONG),
    "configure": lambda bench: bench.request("configure"),
    "activate": lambda bench: bench.request("activate"),
    "deactivate": lambda bench: bench.request("deactivate"),
    "cleanup": lambda bench: bench.request("cleanup"),
    "moon": lambda bench: bench.set_gravity(MOON),
    "earth": lambda bench: bench.set_gravity(EARTH),
    "look": lambda bench: bench.node.watch(),
    "models are built": lambda bench: bench.building.finish(bench.node),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", cases([0, 1], [2, 3]))
def test_any_order(kind: str, seed: int, bench: Callable[..., Bench]) -> None:
    rng = np.random.default_rng(seed)
    names = list(ACTS)
    tried = bench(kind, autostart=bool(seed % 2))
    done = []
    for _ in range(40):
        done.append(str(rng.choice(names)))
        ACTS[done[-1]](tried)
        try:
            tried.check()
        except AssertionError as error:
            raise AssertionError(f"after {', '.join(done)}: {error}") from error
    tried.building.finish(tried.node)
    tried.check()


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_built_for_a_configuration_that_ended_is_not_used(
    kind: str, bench: Callable[..., Bench]
) -> None:
    tried = bench(kind)
    tried.publish(TEXT)
    tried.request("deactivate")
    tried.publish(LIKE)  # built beside the loop from here on, with the earth's gravity
    tried.request("cleanup")
    tried.set_gravity(MOON)
    tried.request("configure")
    tried.building.finish(tried.node)
    tried.check()
    tried.publish(HEAVY)  # an inactive node takes it
    tried.building.finish(tried.node)
    tried.check()
    first = tried.weight()
    tried.request("activate")
    tried.publish(TEXT)
    tried.building.finish(tried.node)
    tried.check()
    assert tried.weight() == first, "an active one does not"


@pytest.mark.parametrize("kind", KINDS)
def test_a_path_that_is_taken_away_lets_the_topic_count(
    kind: str, bench: Callable[..., Bench], capfd: pytest.CaptureFixture[str]
) -> None:
    """Started with the path of no file, the node listens once that is corrected to none."""
    from rclpy.parameter import Parameter

    tried = bench(kind, urdf_path="/no/such.urdf")
    node = tried.node
    listening = lambda: node.count_subscribers("/robot_description")  # noqa: E731
    assert (node.state_label, listening()) == ("unconfigured", 0)
    assert node.set_parameters([Parameter("urdf_path", value="")])[0].successful
    assert not tried.request("configure")
    assert listening() == 1
    tried.publish(TEXT)
    tried.check()
    assert tried.state == "active", "by autostart, which has not been satisfied yet"


@pytest.mark.parametrize("kind", KINDS)
def test_a_configuration_on_request_waits_for_activation_and_says_so(
    kind: str, bench: Callable[..., Bench], capfd: pytest.CaptureFixture[str]
) -> None:
    from rclpy.parameter import Parameter

    tried = bench(kind, urdf_path="/no/such.urdf")
    assert tried.node.set_parameters([Parameter("urdf_path", value=str(URDF))])[0].successful
    tried.known = TEXT
    assert tried.request("configure")
    tried.check()
    assert tried.state == "inactive"
    said = capfd.readouterr()
    assert "waiting for the transition activate" in said.err + said.out
    assert tried.request("activate")
    tried.check()


def test_a_name_of_an_action_that_is_none_is_refused_at_configuration(
    bench: Callable[..., Bench], capfd: pytest.CaptureFixture[str]
) -> None:
    """Found at the activation it would end there, after the log has said configured."""
    tried = bench("feedforward", mode="annotate", annotate__action="a b", urdf_path=str(URDF))
    assert tried.node.state_label == "unconfigured"
    said = capfd.readouterr()
    assert "cannot configure: annotate.action: is 'a b'; give a name" in said.err + said.out
    assert "configured:" not in said.err + said.out
