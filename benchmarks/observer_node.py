"""A cycle inside the observer node's process, from a joint state to its estimates, without DDS.

Six joints with springs (the PUMA 560, 15 kN m/rad or less); motors' encoders and torques are in
the joint states. Only ~/link_state is sent. The observer's own step is measured by turns with it.

Run: python benchmarks/observer_node.py [cycles]   (needs rclpy)
"""

import sys
import time
from array import array

import numpy as np
import rclpy
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState

import geared_dynamics as gd
from geared_dynamics.apps.latency_run import elastic_puma
from geared_dynamics.dynamics.elastic.equations import structure_matrix
from geared_dynamics.observers.readings import at_rest
from geared_dynamics.ros.elastic_observer import ElasticObserverNode

ob = gd.observers
PERIOD = 1e-3


def main() -> None:
    """Measure and print medians and 99th percentiles [us]."""
    cycles = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    urdf, drivetrain = elastic_puma()
    words = {"urdf_path": str(urdf), "drivetrain": drivetrain, "feedback": "motor"}
    words |= {"torque_source": "effort", "torque_kind": "motor_torque"}
    rclpy.init(args=["node", "--ros-args"])
    given = [rclpy.parameter.Parameter(k, value=v) for k, v in words.items()]
    node = ElasticObserverNode(parameter_overrides=given)
    node.start()
    model = node.model
    assert model is not None, "see the log"
    x = at_rest(model, model.motor_zeros)
    phi = structure_matrix(model).T @ x + model.motor_zeros
    weight = gd.gravity_forces(model, x[: model.n])
    tau = np.linalg.pinv(model.structure_matrix) @ weight
    node.outputs._wanted["link_state"] = True
    observer, state = node.loop.setup.observer, None
    whole, alone = [], []
    begin = time.time_ns()
    for k in range(cycles):
        message = JointState(name=list(model.motor_names))
        message.position, message.effort = array("d", phi), array("d", tau)
        stamp = begin + round(k * PERIOD * 1e9)
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 1_000_000_000)
        data = serialize_message(message)
        node.outputs._wanted["link_state"] = True
        start = time.perf_counter_ns()
        node._on_joint_state(data)
        whole.append(time.perf_counter_ns() - start)
        measurement = gd.Measurement(phi, tau)
        start = time.perf_counter_ns()
        if state is None:
            state = observer.start(measurement)
        else:
            state = observer.step(state, measurement, PERIOD)
        alone.append(time.perf_counter_ns() - start)
    print(f"level at the end: {node.loop.output.level.name.lower()}, {cycles} cycles")
    for name, times in (("node's cycle", whole), ("observer's step", alone)):
        median, p99 = np.percentile(np.array(times[200:]) / 1e3, [50, 99])
        print(f"{name:16} median {median:6.1f} us, p99 {p99:6.1f} us")
    node.destroy_node()
    rclpy.try_shutdown()


if __name__ == "__main__":
    main()
