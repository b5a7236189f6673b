"""How desired contact forces are read: from the parameters, and why none may be accepted."""

from __future__ import annotations

from dataclasses import dataclass

from geared_dynamics.control import Controller
from geared_dynamics.control.hybrid import hybrid_law
from geared_dynamics.errors import GearedDynamicsError, UnknownNameError
from geared_dynamics.model import GearedModel
from geared_dynamics.runtime.feedforward_parameters import (
    ContactForceParameters,
    FeedforwardParameters,
)
from geared_dynamics.runtime.parameters import ParameterError

PLACE = "~/contact_wrench"


class ContactForceError(GearedDynamicsError):
    """A desired contact force that is not acted on."""


@dataclass(frozen=True, eq=False)
class ContactSetup:
    """How contact forces are read, by the parameters.

    Attributes:
        model: With the payload.
        tool: Link on whose origin they act.
        bounds: Largest force and torque (2,) [N], [N m].
        rates: Largest changes per second (2,).
        speeds: At which nothing is left of them (2,) [m/s], [rad/s].
        distances: From the reference, at which they end (2,) [m], [rad].
        timeout: Age of the last message at which they ramp to zero [s].
        friction: Coulomb's coefficient of the tool.
        closed: Whether the law reads the measured state.
        refusal: Why none is accepted, None where they are.
    """

    model: GearedModel
    tool: str
    bounds: tuple[float, float]
    rates: tuple[float, float]
    speeds: tuple[float, float]
    distances: tuple[float, float]
    timeout: float
    friction: float
    closed: bool
    refusal: GearedDynamicsError | None


def contact_setup(parameters: FeedforwardParameters, control: Controller) -> ContactSetup:
    """How contact forces are read.

    Args:
        parameters: The parameters.
        control: The law, with the model and its payload.

    Raises:
        ParameterError: for a tool that the robot does not have.
    """
    own, model = parameters.contact_force, control.model
    if own.tool and (own.tool not in model.frames or model.frames[own.tool].wheel >= 0):
        links = [name for name, frame in model.frames.items() if frame.wheel < 0]
        wrong = UnknownNameError("contact_force.tool", "link", own.tool, links)
        raise ParameterError(wrong.place, wrong.finding, wrong.remedy)
    tool, refusal = own.tool or model.tips[0], refusal_of(parameters, own, control)
    if not own.tool and len(model.tips) > 1:
        finding = f"is not given, and the arm has {len(model.tips)} tips: {', '.join(model.tips)}"
        remedy = "set it to the link that touches the environment"
        refusal = refusal or ParameterError("contact_force.tool", finding, remedy)
    return ContactSetup(
        model=model,
        tool=tool,
        bounds=(own.max_force, own.max_torque),
        rates=(own.force_rate, own.torque_rate),
        speeds=(own.max_speed, own.max_turning_speed),
        distances=(own.max_distance, own.max_angle),
        timeout=own.timeout,
        friction=own.friction,
        closed=parameters.mode == "computed_torque",
        refusal=refusal,
    )


def refusal_of(
    parameters: FeedforwardParameters, own: ContactForceParameters, control: Controller
) -> GearedDynamicsError | None:
    """Why no contact force is accepted at all, None where it is."""
    if parameters.mode == "annotate":
        remedy = "set mode to computed_torque"
        return ContactForceError(PLACE, "has no effect in the mode annotate", remedy)
    if not (own.max_force or own.max_torque):
        finding = "is not accepted: contact_force.max_force and max_torque are 0"
        remedy = "restart the node with a bound above zero"
        return ContactForceError(PLACE, finding, remedy)
    law = getattr(control, "law", "")
    if law.startswith("flatness"):
        finding = "is not read by laws of elastic arms"
        return ContactForceError(PLACE, finding, "set use_elasticity to false")
    try:
        hybrid_law(law, control.model, control.command_type)
    except GearedDynamicsError as error:
        return ContactForceError(PLACE, error.finding, error.remedy)
    return None
