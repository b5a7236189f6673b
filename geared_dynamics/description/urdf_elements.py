"""The elements of a URDF that dynamics needs, their attributes and children."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

# A limit that is not there, or as large as a float can be, is no limit.
NO_LIMIT = "inf"
WORD = 0


@dataclass(frozen=True)
class Element:
    """What to keep of an element: attribute -> how many numbers (0: a word).

    ``ignored`` names attributes and children that URDFs have and dynamics does not need.
    """

    attributes: Mapping[str, int] = field(default_factory=dict)
    children: Mapping[str, Element] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    defaults: Mapping[str, str] = field(default_factory=dict)
    infinite: bool = False
    ignored: tuple[str, ...] = ()


ORIGIN = Element({"xyz": 3, "rpy": 3})
_DIAGONAL, _PRODUCTS = ("ixx", "iyy", "izz"), ("ixy", "ixz", "iyz")
_INERTIA = Element(
    dict.fromkeys(_DIAGONAL + _PRODUCTS, 1),
    required=_DIAGONAL,
    defaults=dict.fromkeys(_PRODUCTS, "0"),
)
LINK = Element(
    {"name": WORD},
    {
        "inertial": Element(
            children={
                "origin": ORIGIN,
                "mass": Element({"value": 1}, required=("value",)),
                "inertia": _INERTIA,
            },
            required=("mass", "inertia"),
        )
    },
    ("name",),
    ignored=("type", "visual", "collision", "material", "gazebo", "sensor"),
)
_ENDS = {
    "parent": Element({"link": WORD}, required=("link",)),
    "child": Element({"link": WORD}, required=("link",)),
    "origin": ORIGIN,
}
_LIMIT = Element(
    dict.fromkeys(("lower", "upper", "effort", "velocity"), 1),
    defaults={"lower": "-inf", "upper": NO_LIMIT, "effort": NO_LIMIT, "velocity": NO_LIMIT},
    infinite=True,
)
_MOTION = {
    "axis": Element({"xyz": 3}, required=("xyz",)),
    "limit": _LIMIT,
    "dynamics": Element({"damping": 1, "friction": 1}),
    "mimic": Element({"joint": WORD, "multiplier": 1, "offset": 1}, required=("joint",)),
}
_NAME_AND_TYPE = {"name": WORD, "type": WORD}
_IGNORED = ("calibration", "safety_controller")
_REQUIRED = ("name", "type", "parent", "child")
MOVING = Element(_NAME_AND_TYPE, {**_ENDS, **_MOTION}, _REQUIRED, ignored=_IGNORED)
# A fixed or floating joint has no axis, limit, friction or leader, whatever is written.
AXISLESS = Element(_NAME_AND_TYPE, _ENDS, _REQUIRED, ignored=(*_MOTION, *_IGNORED))
