"""An arm with names that are markup."""

from __future__ import annotations

import pytest

import geared_dynamics as gd

HOSTILE = "</script><img src=x onerror=alert(1)>"
ODD = f"""<robot name="{HOSTILE.replace("<", "&lt;").replace(">", "&gt;")}"><link name="base"/>
<link name="arm"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="&lt;b&gt;j&lt;/b&gt;" type="continuous"><parent link="base"/><child link="arm"/>
</joint></robot>"""
DRIVE = f"""version: 1
wheels:
  "{HOSTILE}": {{carrier: base, axis: [0, 0, 1], position: [0, 0, 0], mass: 0.1,
                 inertia: {{axial: 1.0e-4}}}}
  "two\\nlines\\e[31m": {{carrier: base, axis: [0, 0, 1], position: [0, 0, 0.1], mass: 0.1,
                 inertia: {{axial: 1.0e-4}}}}
spins:
  - {{wheel: "{HOSTILE}", joint: "<b>j</b>", ratio: 7}}
  - {{wheel: "two\\nlines\\e[31m", joint: "<b>j</b>", ratio: -3}}
motors: {{m: {{wheel: "{HOSTILE}"}}}}
"""


@pytest.fixture
def odd_names() -> gd.GearedModel:
    """An arm whose names are markup."""
    return gd.load_model(ODD, DRIVE)
