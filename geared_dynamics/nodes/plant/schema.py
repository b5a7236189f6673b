"""All parameters of the plant node. docs/demo.md shows this table."""

from __future__ import annotations

from typing import get_args

from geared_dynamics.control.values import Side
from geared_dynamics.nodes.common.parameters import Parameter
from geared_dynamics.nodes.common.schema import MODEL, PAYLOAD
from geared_dynamics.simulation.plants.plant import Engine

PACES = ("real_time", "lock_step")
AUTO = "auto"  # engine
LONG = 10.0

PLANT = (
    Parameter("joints", "strings", [], "joints that move; none: all of the URDF", when="start"),
    Parameter("command", "string", "joint_torque", "what commands are", choices=get_args(Side),
              when="start"),
    Parameter("engine", "string", AUTO,
              "what moves the bodies: MuJoCo or our own equations; auto: MuJoCo "
              "where it is installed and takes the arm", choices=(AUTO, *get_args(Engine)),
              when="start"),
    Parameter("pace", "string", "real_time",
              "real_time: by the wall clock; lock_step: time waits for each command",
              choices=PACES, when="start"),
    Parameter("rate", "double", 1000.0, "joint states per second of the arm's time [1/s]",
              1.0, 10_000.0, when="start"),
    Parameter("start_time", "double", 1.0, "of /clock in lock_step [s]", 0.0, 1e9, when="start"),
    Parameter("paused", "bool", False, "begin paused", when="start"),
    Parameter("initial.<joint>", "double", 0.0, "where the arm begins [rad or m]"),
    Parameter("timestep", "double", 0.0,
              "longest step of the integrator [s]; 0: 1 ms, or less where it has to be",
              0.0, 1.0, when="start"),
    Parameter("friction", "bool", True, "joints and rotors rub and stick", when="start"),
    Parameter("saturate", "bool", True, "the motors' limits hold", when="start"),
    Parameter("end_stops", "bool", True, "If true, the URDF's position limits are end stops",
              when="start"),
    Parameter("encoder_counts", "int", 0, "per turn of a motor; 0: exact angles and speeds",
              0, 2**31 - 1, when="start"),
    Parameter("angle_noise", "double", 0.0, "RMS, of the motors' angles [rad]", 0.0, LONG,
              when="start"),
    Parameter("speed_noise", "double", 0.0, "RMS, of their speeds [rad/s]", 0.0, 1e3,
              when="start"),
    Parameter("current_noise", "double", 0.0, "RMS, of their currents [A]", 0.0, 1e3,
              when="start"),
    Parameter("command_latency", "double", 0.0, "time until a command acts [s]", 0.0, LONG,
              when="start"),
    Parameter("measurement_latency", "double", 0.0, "age of what is published [s]", 0.0, LONG,
              when="start"),
    Parameter("seed", "int", 0, "of noise and lost messages", 0, 2**31 - 1, when="start"),
)  # fmt: skip
FAULTS = (
    Parameter("faults.lost_part", "double", 1.0,
              "part of the messages that ~/drop_states and ~/drop_commands lose", 0.0, 1.0),
    Parameter("faults.motors", "strings", [],
              "motors of ~/freeze_encoders and ~/saturate_motors; none: all"),
    Parameter("faults.torque_limit", "double", 0.0,
              "most that ~/saturate_motors leaves, motor side [N m]", 0.0),
)  # fmt: skip

SCHEMA: tuple[Parameter, ...] = (*MODEL, *PLANT, *PAYLOAD, *FAULTS)
