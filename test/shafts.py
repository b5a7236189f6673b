"""One joint with one or two motors, said in a line."""

from __future__ import annotations

from typing import Any

import geared_dynamics as gd

URDF = """<robot name="shaft"><link name="base"/><link name="load"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="joint" type="continuous"><parent link="base"/><child link="load"/>
<axis xyz="1 0 0"/></joint></robot>"""
WHEEL = {"carrier": "base", "axis": [1, 0, 0], "mass": 1, "inertia": {"axial": 1e-3}}


def shaft(second: dict[str, Any] | None = None, **motor: Any) -> gd.GearedModel:
    """A load of 1 kg m^2 and a rotor of 1e-3 kg m^2 with ratio 100; ``second``: another such."""
    every = {"m": motor} if second is None else {"m": motor, "second": second}
    drives = {
        "version": 1,
        "wheels": dict.fromkeys(every, WHEEL),
        "spins": [{"wheel": name, "joint": "joint", "ratio": 100} for name in every],
        "motors": {name: {"wheel": name, **entry} for name, entry in every.items()},
    }
    return gd.load_model(URDF, drives)
