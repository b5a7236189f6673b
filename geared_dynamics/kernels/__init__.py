"""Compiled algorithms: arrays in, arrays out, a status returned.

``kernels.<name>`` is compiled (or read from numba's cache on disk) at its first
use, so that importing the package costs nothing. No module of this package has the name of a
kernel: once imported, it would hide the kernel. Every kernel takes the packed
model (see ``layout``) or another constant array, perhaps more of them, the inputs for one
state (one dimension) or K states (two), and the output last, one row per state.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from numba import types
from numba.core.errors import NumbaError

from geared_dynamics.kernels.compilation import check_memory_layout, compile_kernel

# What a kernel's dispatcher raises for arguments it has no signature for, and what looking at
# an argument that is no array raises: the public functions then convert and call again.
NOT_TAKEN = (TypeError, AttributeError, ValueError, RecursionError, NumbaError)

# name: (module, number of constant arrays beside the model, number of inputs)
KERNELS: dict[str, tuple[str, int, int]] = {
    "inverse_dynamics": ("inverse", 0, 3),
    "inverse_dynamics_loaded": ("inverse", 0, 4),
    "torque_terms": ("terms", 0, 3),
    "inverse_dynamics_time_derivatives": ("inverse_series", 0, 1),
    "inverse_dynamics_slopes": ("tape", 1, 3),
    "tape_values": ("tape", 1, 1),
    "forward_dynamics": ("mass", 0, 3),
    "eliminate": ("elimination", 1, 3),
    "mass_matrix": ("mass", 0, 1),
    "coriolis_matrix": ("terms", 0, 2),
    "energies": ("mass", 0, 2),
    "joint_regressor": ("regressor", 0, 3),
    "pose": ("kinematics", 1, 1),
    "jacobian": ("kinematics", 1, 1),
    "jacobian_drift": ("kinematics", 1, 2),
    "external_forces": ("kinematics", 0, 2),
    "friction_forces": ("friction", 1, 3),
    "rotor_friction": ("drive", 1, 3),
    "drive_terms": ("drive", 1, 4),
    "motor_commands": ("drive", 2, 3),
    "motor_commands_jerk": ("drive_series", 2, 4),
    "balancer_forces": ("balancers", 1, 1),
    "balancer_rates": ("balancers", 1, 2),
    "balancer_energy": ("balancers", 1, 1),
    "elastic_forward_dynamics": ("elastic", 2, 6),
    "spring_tensions": ("elastic", 1, 4),
    "elastic_feedforward": ("flatness", 2, 1),
    "elastic_motor_commands": ("drive_series", 2, 1),
    "observer_transition": ("observer", 2, 2),
    "observer_sliding": ("observer_stepping", 2, 2),
    "observer_predict": ("observer", 3, 3),
    "observer_update": ("observer", 2, 4),
    "control_law": ("control_cycle", 2, 5),
    "nominal_check": ("control_cycle", 0, 6),
    "segment_values": ("control_cycle", 0, 0),
    "contact_coordinates": ("contact_motion", 1, 3),
    "constrained_dynamics": ("contact_motion", 1, 4),
    "contact_impact": ("contact_impulses", 1, 3),
}
SCALARS = {
    "nominal_check": 2,
    "segment_values": 1,
    "contact_coordinates": 1,
    "constrained_dynamics": 3,
    "contact_impact": 5,
}  # numbers between the inputs and the output
DIRECT = (
    "control_law",
    "nominal_check",
    "segment_values",
)  # called in every cycle of a control loop


def __getattr__(name: str) -> Callable[..., int]:
    """Compile the kernel at its first use and keep it as a plain attribute."""
    if name not in KERNELS:
        raise AttributeError(f"there is no kernel {name!r}")
    module, constants, inputs = KERNELS[name]
    check_memory_layout()
    function = getattr(import_module(f"{__name__}.{module}"), name).py_func
    compiled = compile_kernel(function, _signatures(name, constants, inputs))
    if name in DIRECT:
        from geared_dynamics.kernels.direct import direct  # what others need not read

        compiled = direct(compiled, 1 + constants + inputs, SCALARS.get(name, 0))
    globals()[name] = compiled
    return compiled


def _signatures(name: str, constants: int, inputs: int) -> list[Any]:
    """Return a kernel's types: for one state and for a batch, and for nothing else.

    Inputs may be strided and read-only, so that no caller has to copy; any
    other type raises one of NOT_TAKEN, which the public functions take as a
    request to convert.
    """
    return [
        types.int64(
            *[_read(1, "C")] * (1 + constants),
            *[_read(ndim, "A")] * inputs,
            *[types.float64] * SCALARS.get(name, 0),
            types.Array(types.float64, ndim, "C"),
        )
        for ndim in (1, 2)
    ]


def _read(ndim: int, layout: str) -> types.Array:
    """Type of a float64 array that the kernel only reads."""
    return types.Array(types.float64, ndim, layout, readonly=True)
