"""What the user can choose: thresholds, limits, and the reaction to each event."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from geared_dynamics import kernels
from geared_dynamics.actuation.command_type import CommandType, as_command_type
from geared_dynamics.arrays import Array, Frozen, readonly
from geared_dynamics.checks import choice, renamed, warn_former
from geared_dynamics.control.outputs import command_limits
from geared_dynamics.control.safety import memory as event
from geared_dynamics.control.safety.memory import FORMER_REACTIONS, REACTIONS, Reaction
from geared_dynamics.dynamics.arguments import as_numbers
from geared_dynamics.errors import ArrayError, shown
from geared_dynamics.model import GearedModel, require_model

# -- A policy's limits as one array, for nominal cycles -----------------------------------------


def packed_limits(policy: Policy) -> Array:
    """The policy as the kernel reads it (see ``kernels.control_cycle``).

    An error is an event where it exceeds ``tracking`` or ``resume_error``, and where
    no joint has a tolerance there is none. The kernel is compiled here, so that no cycle
    waits for it.
    """
    kernels.nominal_check  # noqa: B018
    errors = [min(e, policy.resume_error) if policy.tracked else math.inf for e in policy.tracking]
    joints = [
        (*near, error, float(endless), *bounds)
        for near, error, endless, bounds in zip(
            policy.rows, errors, policy.continuous, policy.bounds, strict=True
        )
    ]
    commands = zip(policy.command, policy.command_rate, strict=True)
    flat = [number for rows in (joints, commands) for row in rows for number in row]
    return readonly([float(len(joints)), float(len(policy.command)), *flat])


# -- Thresholds, limits and reactions: what the user can choose -----------------------------------


OpenLoopEnd = Literal["gravity", "zero"]
Numbers = tuple[float, ...]

FACTOR = 2.0  # times its limit no joint is
# Of joints without a speed limit: largest speed, and a speed that few joints reach [1/s].
FASTEST, USUAL = 1e3, 20.0

# Which option says what follows on an event.
OPTIONS = {
    event.STALE_REFERENCE: "on_stale_reference",
    event.BAD_COMMAND: "on_bad_command",
    event.POSITION_LIMIT: "on_position_limit",
    event.VELOCITY_LIMIT: "on_velocity_limit",
    event.TRACKING_ERROR: "on_tracking_error",
    event.TIME_JUMP: "on_time_jump",
    event.COMPUTATION: "on_computation",
    event.EMERGENCY_STOP: "on_emergency_stop",
    event.IMPOSSIBLE_STATE: "on_impossible_state",
}


@dataclass(frozen=True)
class Policy(Frozen):
    """What is safe for one arm and one kind of command; see docs/safety.md.

    Attributes:
        lower: Lowest joint positions (n,) [rad or m], -inf for none.
        upper: Highest joint positions (n,), inf for none.
        velocity: Largest joint speeds (n,) [1/s], inf for none.
        command: Largest commands (n,) or (m,), in the unit that is sent, inf for none.
        command_rate: Their largest rate of change per second, inf for none.
        tracking: Largest position errors (n,), inf for none.
        continuous: Joints that turn endlessly (n,).
        needs_reference: Whether the law follows a reference.
        state_timeout: Age at which a joint state is stale [s].
        reference_timeout: Age at which a reference is stale [s], inf for never.
        position_margin: Distance from a limit at which it is near [rad or m].
        position_tolerance: Distance beyond a limit at which the arm is stopped.
        velocity_near: Part of the largest speed that is near.
        velocity_tolerance: Part beyond the largest speed at which the arm is stopped.
        time_jump: Step forward of ``clock`` between two cycles that is a jump [s].
        open_loop_time: Time without valid joint states during which a moving arm is braked by the
            model and gravity is compensated [s].
        open_loop_end: What follows: ``gravity`` goes on, ``zero`` ramps to zero.
        ramp_time: Length of a fade [s].
        hold_velocity: Speed below which a held arm counts as at rest [rad/s or m/s].
        settle_time: Longest time given for that [s].
        recovery_time: How long nothing may be wrong before the arm runs again [s].
        resume_time: Length of the fade from holding to running [s].
        resume_error: Largest position error with which the arm runs again [rad or m].
        stop_time: Length of the stop before the node ends, where the limits allow it [s].
        on_stale_reference: ``hold``, ``ramp_to_gravity`` or ``zero``, as all ``on_...``.
        on_bad_command: For NaN in the wanted command.
        on_position_limit: For a joint beyond its range.
        on_velocity_limit: For a joint that is too fast.
        on_tracking_error: For an arm that does not follow.
        on_time_jump: For a clock that was reset.
        on_computation: For a law that raises.
        on_emergency_stop: For the emergency stop.
        on_impossible_state: For joint states that no arm can be in one after the other.
    """

    lower: Numbers
    upper: Numbers
    velocity: Numbers
    command: Numbers
    command_rate: Numbers
    tracking: Numbers
    continuous: tuple[bool, ...]
    needs_reference: bool = True
    state_timeout: float = 0.05
    reference_timeout: float = math.inf
    position_margin: float = 0.05
    position_tolerance: float = 0.02
    velocity_near: float = 0.9
    velocity_tolerance: float = 0.1
    time_jump: float = 1.0
    open_loop_time: float = 0.2
    open_loop_end: OpenLoopEnd = "gravity"
    ramp_time: float = 0.5
    hold_velocity: float = 0.02
    settle_time: float = 1.0
    recovery_time: float = 0.1
    resume_time: float = 0.2
    resume_error: float = 0.1
    stop_time: float = 0.2
    on_stale_reference: Reaction = "hold"
    on_bad_command: Reaction = "hold"
    on_position_limit: Reaction = "hold"
    on_velocity_limit: Reaction = "hold"
    on_tracking_error: Reaction = "hold"
    on_time_jump: Reaction = "hold"
    on_computation: Reaction = "hold"
    on_emergency_stop: Reaction = "hold"
    on_impossible_state: Reaction = "hold"
    # Of each joint: near limits and near speed.
    rows: tuple[tuple[float, float, float], ...] = field(init=False, repr=False, compare=False)
    severity: tuple[tuple[int, int], ...] = field(init=False, repr=False, compare=False)
    # Of each joint: largest speed that is possible, and speed at which positions may move.
    bounds: tuple[tuple[float, float], ...] = field(init=False, repr=False, compare=False)
    tracked: bool = field(init=False, repr=False, compare=False)
    packed: Array = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check, and lay out what a cycle reads."""
        for option in OPTIONS.values():
            old = getattr(self, option)
            if isinstance(old, str) and old in FORMER_REACTIONS:
                warn_former(f"the reaction {old!r}", repr(FORMER_REACTIONS[old]))
                object.__setattr__(self, option, FORMER_REACTIONS[old])
        self._check()
        rows = tuple(
            (low + self.position_margin, high - self.position_margin, near(speed, self))
            for low, high, speed in zip(self.lower, self.upper, self.velocity, strict=True)
        )
        severity = tuple((bit, REACTIONS.index(getattr(self, o))) for bit, o in OPTIONS.items())
        object.__setattr__(self, "rows", rows)
        object.__setattr__(self, "severity", severity)
        bounds = tuple(possible(speed) for speed in self.velocity)
        object.__setattr__(self, "bounds", bounds)
        object.__setattr__(self, "tracked", any(math.isfinite(x) for x in self.tracking))
        object.__setattr__(self, "packed", packed_limits(self))

    @property
    def blind_time(self) -> float:
        """Former name of ``open_loop_time``."""
        warn_former("Policy.blind_time", "open_loop_time")
        return self.open_loop_time

    @property
    def blind_end(self) -> OpenLoopEnd:
        """Former name of ``open_loop_end``."""
        warn_former("Policy.blind_end", "open_loop_end")
        return self.open_loop_end

    def _check(self) -> None:
        """Refuse invalid values, by name."""
        n, m = len(self.lower), len(self.command)
        sizes = dict.fromkeys(("lower", "upper", "velocity", "tracking", "continuous"), n)
        sizes |= {"command": m, "command_rate": m}
        for name, size in sizes.items():
            found = len(getattr(self, name))
            if found != size:
                raise ArrayError(f"policy.{name}", f"has {found} entries", f"give {size}")
        for name in ("velocity", "command", "command_rate", "tracking"):
            if not all(value > 0.0 for value in getattr(self, name)):
                finding = f"is {getattr(self, name)}"
                raise ArrayError(
                    f"policy.{name}", finding, "give numbers above zero, inf for none"
                )
        if not all(low <= high for low, high in zip(self.lower, self.upper, strict=True)):
            finding = f"is {self.lower}, upper {self.upper}"
            raise ArrayError("policy.lower", finding, "give each lower limit below its upper one")
        for entry in fields(self):
            if entry.name.startswith("on_"):
                choice(f"policy.{entry.name}", "reaction", getattr(self, entry.name), REACTIONS)
        choice("policy.open_loop_end", "end", self.open_loop_end, get_args(OpenLoopEnd))
        self._check_numbers()

    def _check_numbers(self) -> None:
        above = ("state_timeout", "reference_timeout", "time_jump", "ramp_time", "resume_error",
                 "stop_time")  # fmt: skip
        for name in (*above, *NOT_NEGATIVE):
            value = getattr(self, name)
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            enough = number and (value > 0.0 if name in above else value >= 0.0)
            endless = name in {"reference_timeout", "resume_error", "time_jump"}
            if not enough or not (endless or math.isfinite(value)):
                remedy = "give a time above zero" if name in above else "give a number from zero"
                raise ArrayError(f"policy.{name}", f"is {shown(value)}", remedy)


def near(limit: float, policy: Policy) -> float:
    """Speed above which a limit is near: never without one, whatever part of it is near."""
    return policy.velocity_near * limit if limit < math.inf else math.inf


def possible(limit: float) -> tuple[float, float]:
    """Largest possible speed, and that of positions, of a joint with a speed limit [1/s]."""
    return (FACTOR * limit, FACTOR * limit) if limit < math.inf else (FASTEST, FACTOR * USUAL)


NOT_NEGATIVE = (
    "position_margin",
    "position_tolerance",
    "velocity_near",
    "velocity_tolerance",
    "open_loop_time",
    "hold_velocity",
    "settle_time",
    "recovery_time",
    "resume_time",
)


# -- A policy from what the model's files say -----------------------------------------------------


SWING = 0.02  # [s] in which a command may go from zero to its limit, where no rate is given


@renamed("side", "command_type")
@renamed("blind_time", "open_loop_time")
@renamed("blind_end", "open_loop_end")
def default_policy(
    model: GearedModel, command_type: CommandType = "joint_torque", **options: Any
) -> Policy:
    """Policy with the limits of the URDF and of the motors.

    Positions and speeds: ``model.limits``, which says what counts as no limit. Commands: on
    the joint side its effort, and no more than all motors together can give; on the motor
    side torque, current or voltage as the drivetrain says. Their rate: each command's limit
    in 20 ms; none where there is no limit.

    Args:
        model: Geared model.
        command_type: What commands are.
        options: Fields of ``Policy``; a single number stands for all joints or motors.
    """
    require_model(model)
    command_type = as_command_type("command_type", command_type)
    limits = model.limits
    given: dict[str, Sequence[float]] = {
        "lower": limits.lower.tolist(),
        "upper": limits.upper.tolist(),
        "velocity": limits.velocity.tolist(),
        "tracking": [math.inf] * model.n,
    }
    most = command_limits(model, command_type)
    given["command"] = spread("command", options.pop("command", None), most.tolist())
    given["command_rate"] = [limit / SWING for limit in given["command"]]
    for name, value in given.items():
        given[name] = spread(name, options.pop(name, None), value)
    names = [entry.name for entry in fields(Policy) if entry.init and entry.name != "continuous"]
    for name in options:
        choice("policy", "option", name, names)
    return Policy(**given, continuous=tuple(model.continuous.tolist()), **options)  # type: ignore[arg-type]


def spread(name: str, option: Any, value: Sequence[float]) -> tuple[float, ...]:
    """The option, a number or a sequence, in place of the value if given."""
    if option is None:
        return tuple(value)
    array = as_numbers(f"policy.{name}", option, "give one number, or one for each")
    if array.ndim > 1:
        raise ArrayError(f"policy.{name}", f"has shape {array.shape}", "give one row of numbers")
    return tuple(array.tolist()) if array.ndim else (float(array),) * len(value)
