"""A small arm whose drivetrain says all there is of motors, friction and balancers."""

from __future__ import annotations

from typing import Any

import yaml

UNIT = '<mass value="1"/><inertia ixx="1" iyy="1" izz="1"/>'
LINK = f'<link name="{{}}"><inertial>{UNIT}</inertial></link>'
JOINT = (
    '<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/><origin xyz="0 0 0.5"/>'
    '<axis xyz="0 1 0"/></joint>'
)
ROBOT = (
    '<robot name="arm"><link name="base"/>'
    + "".join(LINK.format(name) for name in ("one", "two", "tool", "stand"))
    + JOINT.format("j1", "continuous", "base", "one")
    + JOINT.format("j2", "continuous", "one", "two")
    + JOINT.format("flange", "fixed", "two", "tool")
    + JOINT.format("foot", "fixed", "base", "stand")
    + "</robot>"
)
GOOD = """
version: 1
wheels: {r: {carrier: base, axis: [0, 0, 1], mass: 1, inertia: {axial: 1.0e-4}}}
spins: [{wheel: r, joint: j1, ratio: 10}]
motors:
  m:
    wheel: r
    kind: dc
    resistance: 0.8
    inductance: 1.0e-3
    torque_constant: 0.06
    back_emf_constant: 0.061
    friction: {viscous: 1.0e-5, coulomb: [0.01, 0.012], stribeck: {static: [0.02, 0.03], speed: 5},
      load: 0.1, offset: 0.001, ripple: [{order: 7, amplitude: 0.003, phase: 0.2}], smoothing: 0.5}
    efficiency: {driving: 0.85, backdriving: 0.7}
    limits: {voltage: 48, current: 15, torque: 0.9, speed: 500,
      envelope: [[0, 0.9], [300, 0.8], [500, 0.4]],
      thermal: {continuous_current: 6, time_constant: 30}}
joints:
  j1: {friction: {viscous: 0.4, coulomb: 1.1, stribeck: {static: 1.5, speed: 0.1}}}
balancers:
  strut: {gas: {area: 1.0e-3, pressure: 2.0e+6, volume: 1.0e-3, length: 0.3, exponent: 1.3,
    action: push}, anchors: [{link: base, position: [0.1, 0, 0]}, {link: one}]}
  coil: {coil: {stiffness: 100, length: 0.2, preload: 3}, anchors: [{link: one}, {link: two}]}
  cord: {constant: {force: 40}, anchors: [{link: stand}, {link: tool}]}
  clock: {torsion: {stiffness: 5, rest: 0.1, preload: 2}, joint: j2}
"""


def changed(path: str, value: Any) -> dict[str, Any]:
    """The good drivetrain with one entry written otherwise, or taken out."""
    data = yaml.safe_load(GOOD)
    *keys, last = path.split(".")
    entry = data
    for key in keys:
        entry = entry[key]
    if isinstance(value, str) and value == "-":
        del entry[last]
    else:
        entry[last] = value
    return data
