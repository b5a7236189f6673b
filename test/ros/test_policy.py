"""The SROS2 policy against the running node: everything it needs, and nothing else."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from observer_node_arm import drives
from ros_harness import Graph, Processes

ROOT = Path(__file__).resolve().parents[2]
POLICY = ROOT / "policies" / "geared_dynamics.policy.xml"
ELBOW = ROOT / "urdf" / "elbow.urdf"
DRIVES = ROOT / "urdf" / "elbow.drivetrain.yaml"
# Of the mode annotate; used by other releases of rclpy.
SELDOM = {"/feedforward_node/annotated_trajectory", "/parameter_events"}
KINDS = {
    "topics": ("publish", "subscribe"),
    "services": ("reply", "request"),
    "actions": ("execute", "call"),
}
# What an action's server uses, as sros2 expands it.
ACTION = {
    "publish": ("feedback", "status"),
    "reply": ("send_goal", "cancel_goal", "get_result"),
}


def profile(name: str = "feedforward_node") -> ET.Element:
    """A node's profile."""
    found = ET.parse(POLICY).getroot().find(f".//profile[@node='{name}']")
    assert found is not None
    return found


def allowed(kind: str, name: str = "feedforward_node") -> set[str]:
    """Full names that a profile allows to publish, subscribe, reply or request."""
    node = f"{profile(name).get('ns')}{name}"
    found = set()
    for group in profile(name):
        if group.get(kind) == "ALLOW":
            names = [(entry.text or "").strip() for entry in group]
            found |= {
                name.replace("~", node, 1) if name.startswith("~") else f"/{name.lstrip('/')}"
                for name in names
            }
        if group.get("execute") == "ALLOW":
            names = [(entry.text or "").strip().replace("~", node, 1) for entry in group]
            parts = ACTION.get(kind, ())
            found |= {f"{name}/_action/{part}" for name in names for part in parts}
    return found


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("feedforward_node", "feedforward"),
        ("elastic_observer_node", "elastic_observer"),
        ("plant_node", "plant"),
    ],
)
def test_the_policy_has_the_form_that_sros2_reads(name: str, path: str) -> None:
    root = ET.parse(POLICY).getroot()
    assert (root.tag, root.get("version")) == ("policy", "0.2.0")
    enclave = root.find(f"enclaves/enclave[@path='/geared_dynamics/{path}']")
    assert enclave is not None
    assert enclave.find("profiles/profile") is not None
    assert enclave.find("profiles/profile").get("node") == name  # type: ignore[union-attr]
    assert profile(name).get("ns") == "/"
    for group in profile(name):
        assert set(group.attrib) <= set(KINDS[group.tag])
        assert set(group.attrib.values()) == {"ALLOW"}
        names = [(entry.text or "").strip() for entry in group]
        assert all(entry.tag == group.tag.removesuffix("s") for entry in group)
        assert len(names) == len(set(names)) > 0


def used(graph: Graph, name: str = "feedforward_node") -> dict[str, set[str]]:
    """Full names that the running node uses."""
    graph.wait_for_node(name)
    node, who = graph.node, (name, "/")
    return {
        "publish": {name for name, _ in node.get_publisher_names_and_types_by_node(*who)},
        "subscribe": {name for name, _ in node.get_subscriber_names_and_types_by_node(*who)},
        "reply": {name for name, _ in node.get_service_names_and_types_by_node(*who)},
        "request": {name for name, _ in node.get_client_names_and_types_by_node(*who)},
    }


def wait_for_all(graph: Graph, name: str, seldom: set[str]) -> None:
    """Wait until the graph shows all that a node may use, but for what it uses seldom."""

    def nothing_more() -> bool:
        more = (allowed(kind, name) - names for kind, names in used(graph, name).items())
        return {one for one in set().union(*more) if "/_action/" not in one} <= seldom

    graph.until(nothing_more, f"all that {name} is allowed to use")


@pytest.mark.parametrize("mode", ["annotate", "computed_torque"])
def test_the_policy_allows_what_the_node_uses(
    processes: Processes, graph: Graph, tmp_path: Path, mode: str
) -> None:
    values = {
        "mode": mode,
        "drivetrain": str(DRIVES),
        "use_sim_time": True,
        "publish_joint_commands": True,
        "publish_terms": True,
    }
    file = tmp_path / "node.yaml"
    lines = [
        f"    {name}: {str(value).lower()}" for name, value in values.items() if value is True
    ]
    lines += [f"    {name}: {value}" for name, value in values.items() if value is not True]
    file.write_text("/**:\n  ros__parameters:\n" + "\n".join(lines) + "\n", encoding="utf-8")
    module = "geared_dynamics.ros.feedforward_node"
    processes.start("-m", module, "--ros-args", "--params-file", file)
    describe(graph)
    graph.wait_for_state("/feedforward_node", "active")
    for kind, names in used(graph).items():
        assert names <= allowed(kind), f"{kind}: {sorted(names - allowed(kind))}"
    if mode == "computed_torque":  # actions are there where control_msgs is
        wait_for_all(graph, "feedforward_node", SELDOM)


@pytest.mark.parametrize("source", ["commands", "joint_commands"])
def test_the_policy_allows_what_the_observer_uses(
    processes: Processes, graph: Graph, tmp_path: Path, source: str
) -> None:
    name = "elastic_observer_node"
    (tmp_path / "arm.yaml").write_text(drives(), encoding="utf-8")
    values = {
        "drivetrain": tmp_path / "arm.yaml",
        "use_sim_time": "true",
        "torque_source": source,
        "sensors.joint_1.link_encoder_noise": 1e-4,
        "sensors.joint_1.torque_sensor_noise": 0.1,
    }
    options = [part for key, value in values.items() for part in ("-p", f"{key}:={value}")]
    processes.start("-m", f"geared_dynamics.ros.{name}", "--ros-args", *options)
    describe(graph)
    graph.wait_for_state(f"/{name}", "active")
    for kind, names in used(graph, name).items():
        assert names <= allowed(kind, name), f"{kind}: {sorted(names - allowed(kind, name))}"
    wait_for_all(graph, name, {"/parameter_events", "/commands", "/joint_commands"})


@pytest.mark.parametrize("pace", ["real_time", "lock_step"])
def test_the_policy_allows_what_the_plant_uses(
    processes: Processes, graph: Graph, pace: str
) -> None:
    name = "plant_node"
    values = {"drivetrain": DRIVES, "engine": "equations", "pace": pace, "use_sim_time": "true"}
    values |= {"wait_for_observer": "true"}
    values |= {"wall.frame": "link_3", "wall.point": "[0.0, 0.0, -5.0]"}
    options = [part for key, value in values.items() for part in ("-p", f"{key}:={value}")]
    process = processes.start("-m", f"geared_dynamics.ros.{name}", "--ros-args", *options)
    describe(graph)
    graph.until(lambda: "plant: elbow" in process.output, "the plant")
    graph.until(lambda: f"/{name}/reset" in used(graph, name)["reply"], "its services")
    for kind, names in used(graph, name).items():
        assert names <= allowed(kind, name), f"{kind}: {sorted(names - allowed(kind, name))}"
    # The last of elastic arms.
    unused = {f"/{name}/observed"} if pace == "real_time" else set()
    wait_for_all(graph, name, {"/parameter_events", "/clock", "/link_states"} | unused)


def describe(graph: Graph) -> None:
    """Publish the URDF as robot_state_publisher does."""
    from rclpy.qos import DurabilityPolicy, QoSProfile
    from std_msgs.msg import String

    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    publisher = graph.publisher("/robot_description", String, latched)
    publisher.publish(String(data=ELBOW.read_text("utf-8")))
