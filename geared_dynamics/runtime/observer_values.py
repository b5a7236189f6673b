"""Estimates of the observer node, and how far they may be trusted."""

from __future__ import annotations

import enum
from typing import NamedTuple

import numpy as np

from geared_dynamics.actuation.command_type import command_names, is_of_motors
from geared_dynamics.arrays import Array
from geared_dynamics.model import GearedModel
from geared_dynamics.observers import Estimate, Fault, ObserverState
from geared_dynamics.runtime.observer_parameters import ObserverParameters
from geared_dynamics.runtime.observer_settings import ObserverSetup
from geared_dynamics.runtime.parameters import ParameterError

# -- What goes into a cycle of the observer node, and what comes out ------------------------------


class Level(enum.IntEnum):
    """How far an estimate may be trusted; the message's ``frame_id`` says it."""

    GOOD = 0
    DEGRADED = 1  # a link's sensor is left out, it lags behind a push, or an encoder was stuck
    INCONSISTENT = 2  # the readings are farther from their predictions than the tuning admits
    BRIDGED = 3  # predicted without a motor's reading, or with an assumed torque
    INVALID = 4  # nothing is known: all numbers are NaN

    @property
    def frame(self) -> str:
        """Text for the header: empty where all is well."""
        return "" if self is Level.GOOD else self.name.lower()


class Sensed(NamedTuple):
    """A joint state, and what other topics brought since the one before.

    Attributes:
        time: Its stamp [s], counted from any zero.
        positions: As they came (k,), NaN for missing ones.
        torques: Newest commands or efforts as they came (l,); None where there are none.
        links: Links' encoders as they came (n,), None for nothing new.
        links_time: Their stamp [s].
        sensors: Joint torque sensors as they came (n,), None for nothing new.
        sensors_time: Their stamp [s]; None: that of the joint state.
    """

    time: float
    positions: Array
    torques: Array | None
    links: Array | None = None
    links_time: float = 0.0
    sensors: Array | None = None
    sensors_time: float | None = None


class ObserverOutput(NamedTuple):
    """What is known after a cycle.

    Attributes:
        level: How far to trust it.
        faults: Of the last step.
        why: In words; empty where all is well.
        given: What the observer was prepared with.
        moved: The published state, at the time of the joint state; None where it is invalid.
        tau_m: The motors' torque used (m,) [N m].
        state: The observer's, of its last reading; None where there is none.
    """

    level: Level
    faults: Fault
    why: str
    given: ObserverSetup
    moved: ObserverState | None
    tau_m: Array
    state: ObserverState | None

    @property
    def estimate(self) -> Estimate | None:
        """The state in the user's quantities, counted when asked; None where it is invalid."""
        if self.moved is None:
            return None
        return self.given.observer.estimate(self.moved)


# -- How good an estimate is, as numbers: the topic ``~/quality`` ---------------------------------


NONE = float("nan")


def labels(setup: ObserverSetup) -> list[tuple[str, int]]:
    """Names of the parts of ``~/quality`` in their order, and how many numbers each has."""
    sizes = setup.observer.gains.sizes
    return [
        ("level", 1),
        ("faults", 1),
        ("nis_ratio", 1),
        ("nis_ratio_limit", 1),
        ("innovation", sizes.readings),
        ("innovation_deviation", sizes.readings),
        ("reading_faults", sizes.readings),
        ("link_position_deviation", sizes.n),
        ("link_velocity_deviation", sizes.n),
        ("external_torque_deviation", sizes.n),
        ("external_torque_friction", sizes.n),
    ]


def quality_numbers(setup: ObserverSetup, output: ObserverOutput) -> Array:
    """The numbers of all parts; NaN for what the observer does not know."""
    state, gains = output.state, setup.observer.gains
    n, c = gains.sizes.n, gains.sizes.readings
    head = np.array([float(output.level), float(output.faults), NONE, NONE])
    innovation, deviation, faults = np.full(c, NONE), np.full(c, NONE), np.full(c, NONE)
    spread = np.full((4, n), NONE)
    if state is not None:
        faults[: len(state.health.channels)] = state.health.channels
        innovation[: len(state.innovation)] = state.innovation
        head[2:] = state.ratio, gains.most
        stated = setup.observer.deviations(state)
        if stated is not None:
            deviation, spread = stated.innovation, np.stack(stated[1:])
    return np.concatenate([head, innovation, deviation, faults, spread.ravel()])


# -- How a robot calls what it measures and what it is sent ---------------------------------------


def state_names(parameters: ObserverParameters, model: GearedModel) -> tuple[str, ...]:
    """What joint_states calls what it holds, in the model's order."""
    own = model.motor_names if parameters.feedback == "motor" else model.joint_names
    return given_names("state_names", parameters.state_names, own)


def torque_names(
    parameters: ObserverParameters, model: GearedModel
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """What the source of torques calls them in its order, and their places in the model's order.

    As for the feedforward node, ``command_joints`` may have the model's names in another order,
    or other names in the order of ``joints``.
    """
    motors = is_of_motors(parameters.torque_kind)
    own = command_names(model, parameters.torque_kind)
    usual = parameters.joints if parameters.joints and not motors else own
    called = given_names("command_joints", parameters.command_joints, usual)
    ordered = called if set(called) == set(own) else usual
    return called, tuple(own.index(name) for name in ordered)


def given_names(name: str, chosen: tuple[str, ...], usual: tuple[str, ...]) -> tuple[str, ...]:
    """Names of a parameter, or the usual ones."""
    given = chosen or usual
    if len(set(given)) != len(given) or len(given) != len(usual):
        finding = f"has {len(given)} names, and there are {len(usual)}: {', '.join(usual)}"
        raise ParameterError(name, finding, "give each a name of its own")
    return given
