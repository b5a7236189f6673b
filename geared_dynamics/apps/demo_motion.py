"""The motion of a demo: for any arm, as fast as its motors just allow."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.actuation.motor_commands import motor_commands
from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.rigid import inverse_dynamics
from geared_dynamics.model import GearedModel

# -- How much of their limits the motors of an arm use --------------------------------------------


class Load(NamedTuple):
    """Parts of limits; zero where there is no limit, or what it needs is not described.

    Attributes:
        torque: Motor torque, of the torque and current limits (k, m).
        voltage: Of the voltage limit (k, m).
    """

    torque: Array
    voltage: Array


def motor_load(model: GearedModel, torque: Array, speed: Array) -> Load:
    """Load of the motors, currents taken as steady: V = R tau / k_t + k_e omega.

    Args:
        model: Geared model.
        torque: Electromagnetic torques (k, m) [N m].
        speed: Rotor speeds (k, m) [rad/s].
    """
    motors = model.motors
    volts, amperes, most, _ = motors.limits.T
    by_current = amperes * motors.torque_constant  # NaN where the constant is not given
    tension = motors.resistance * torque / motors.torque_constant
    tension = tension + motors.back_emf_constant * speed
    return Load(part(torque, np.fmin(most, by_current)), part(tension, volts))


def part(value: Array, limit: Array) -> Array:
    """|value| / limit; 0 without a limit or a value."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nan_to_num(np.abs(value) / limit, nan=0.0, posinf=0.0)


def effort_of_motion(model: GearedModel, q: Array, v: Array, a: Array) -> float:
    """Largest part of any limit that a motion takes: motors' and joints', torque and speed.

    Args:
        model: Geared model.
        q: Positions (k, n) [rad or m].
        v: Velocities (k, n).
        a: Accelerations (k, n).
    """
    speed = v @ model.structure_matrix
    load = motor_load(model, motor_commands(model, q, v, a).torque, speed)
    parts = (
        load.torque,
        load.voltage,
        part(speed, model.motors.limits[:, 3]),
        part(v, model.limits.velocity),
        part(inverse_dynamics(model, q, v, a), model.limits.effort),
    )
    return max(float(found.max()) for found in parts)


# -- A demanding motion for any arm ---------------------------------------------------------------
#
#     q = q0 + e(t) s(t),   s = amplitude sin(beat t + phase),   e swells and fades smoothly
#
# The beats grow from joint to joint, as light wrists follow faster than heavy shoulders; one
# tempo for all makes the hardest-worked limit a given part of what it may be.


LENGTH = 5.0  # [s]
SWELL = 1.0  # [s] at the beginning, and as long at the end
STEP = 0.01  # [s] between waypoints
WIDEST = 0.8  # [rad]
SHARE = 0.35  # of a joint's range to either side, at most
LEAN = 0.2  # of a joint's range away from its middle: a bent arm
SLOWEST, FASTEST = 0.7, 1.7  # first and last joint's beat at tempo 1 [1/s]
WORK = 0.7  # part of the tightest limit that the motion takes
SIZES = (1.0, 0.6, 0.3, 0.1)  # tried one after the other
TEMPI = (0.05, 1.6)  # least and largest


class DemoMotion(NamedTuple):
    """Waypoints, at rest at both ends.

    Attributes:
        times: [s], from 0 (k,).
        q: Positions (k, n) [rad or m].
        v: Velocities (k, n).
        a: Accelerations (k, n).
    """

    times: Array
    q: Array
    v: Array
    a: Array


class Swing(NamedTuple):
    """A motion at any tempo.

    Attributes:
        middle: Position around which joints swing (n,).
        amplitude: (n,).
        beat: At tempo 1 (n,) [rad/s].
    """

    middle: Array
    amplitude: Array
    beat: Array

    def at(self, times: Array, tempo: float = 1.0) -> DemoMotion:
        """Position, velocity and acceleration at times (k,), exactly."""
        e, de, dde = (row[:, None] for row in envelope(times))
        beat = tempo * self.beat
        angle = beat * times[:, None] + np.arange(len(beat))
        s = self.amplitude * np.sin(angle)
        ds, dds = self.amplitude * beat * np.cos(angle), -(beat**2) * s
        q = self.middle + e * s
        return DemoMotion(times, q, de * s + e * ds, dde * s + 2.0 * de * ds + e * dds)


def envelope(times: Array) -> tuple[Array, Array, Array]:
    """0 at both ends, 1 between, three derivatives continuous; with two derivatives."""
    up, down = ramp(times / SWELL), ramp((LENGTH - times) / SWELL)
    e = up[0] * down[0]
    de = (up[1] * down[0] - up[0] * down[1]) / SWELL
    dde = (up[2] * down[0] - 2.0 * up[1] * down[1] + up[0] * down[2]) / SWELL**2
    return e, de, dde


def ramp(x: Array) -> tuple[Array, Array, Array]:
    """The polynomial of degree 7 from 0 at 0 to 1 at 1, and two derivatives."""
    r = np.clip(x, 0.0, 1.0)
    value = r**4 * (35.0 - 84.0 * r + 70.0 * r**2 - 20.0 * r**3)
    slope = 140.0 * r**3 * (1.0 - r) ** 3
    return value, slope, 420.0 * r**2 * (1.0 - r) ** 2 * (1.0 - 2.0 * r)


def demanding(model: GearedModel) -> DemoMotion:
    """The motion of an arm: as wide as it can carry itself, as fast as ``WORK`` allows."""
    times = waypoint_times()
    for size in SIZES:
        wanted = swing(model, size)
        if effort_of_motion(model, *wanted.at(times, TEMPI[0])[1:]) <= WORK:
            break
    return wanted.at(times, tempo_for(model, wanted))


def swing(model: GearedModel, size: float = 1.0) -> Swing:
    """Where and how far the joints of an arm swing, within their ranges.

    Args:
        model: Geared model.
        size: Part of the usual lean and amplitude.
    """
    lower, upper = model.limits.lower, model.limits.upper
    middle, amplitude = np.full(model.n, size * LEAN), np.full(model.n, WIDEST)
    for k in np.flatnonzero(np.isfinite(upper - lower)):
        middle[k] = 0.5 * (lower[k] + upper[k]) + size * min(LEAN * (upper[k] - lower[k]), 0.6)
        room = min(upper[k] - middle[k], middle[k] - lower[k])
        amplitude[k] = min(WIDEST, 2.0 * SHARE * room)
    beat = 2.0 * np.pi * np.linspace(SLOWEST, FASTEST, model.n)
    return Swing(middle, size * amplitude, beat)


def tempo_for(model: GearedModel, wanted: Swing) -> float:
    """The tempo at which the tightest limit is used to the part ``WORK``."""
    times = waypoint_times()
    low, high = TEMPI
    if effort_of_motion(model, *wanted.at(times, high)[1:]) <= WORK:
        return high
    for _ in range(20):
        middle = 0.5 * (low + high)
        if effort_of_motion(model, *wanted.at(times, middle)[1:]) <= WORK:
            low = middle
        else:
            high = middle
    return low


def waypoint_times() -> Array:
    """Times of the waypoints (k,) [s]."""
    return STEP * np.arange(round(LENGTH / STEP) + 1, dtype=np.float64)
