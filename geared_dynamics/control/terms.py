"""Which terms of the dynamics a controller adds."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

from geared_dynamics.arrays import Array
from geared_dynamics.errors import ArrayError


@dataclass(frozen=True)
class Terms:
    """Switches, one for each term; off where the robot itself adds that term already.

    Attributes:
        use_gravity_compensation: g(q), less what balancers carry.
        use_coriolis_compensation: C(q, v) v of the links with their wheels locked.
        use_inertia_feedforward: M_locked(q) a.
        use_rotor_inertia: diag(Gamma' J Gamma) a, the usual armature.
        use_rotor_coupling: The wheels' other spin terms: the rest of Gamma' J Gamma,
            Gamma' J Z + Z' J Gamma, and their Coriolis forces.
        use_friction: Friction of the joints; on the motor side also that of the rotors.
    """

    use_gravity_compensation: bool = True
    use_coriolis_compensation: bool = True
    use_inertia_feedforward: bool = True
    use_rotor_inertia: bool = True
    use_rotor_coupling: bool = True
    use_friction: bool = True

    def __post_init__(self) -> None:
        """Refuse what is neither true nor false."""
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, bool):
                raise ArrayError(f"terms.{field.name}", f"is {value!r}", "give True or False")


class TermTorques(NamedTuple):
    """Each term's joint force (n,) [N m or N], joint side; their sum is the complete force.

    Attributes:
        gravity: See ``Terms`` for all of them.
        coriolis: Likewise.
        inertia: Likewise.
        rotor_inertia: Likewise.
        rotor_coupling: Likewise.
        friction: Likewise.
    """

    gravity: Array
    coriolis: Array
    inertia: Array
    rotor_inertia: Array
    rotor_coupling: Array
    friction: Array
