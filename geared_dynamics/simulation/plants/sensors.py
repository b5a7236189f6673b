"""Encoders with counts, noise and a fault."""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.model import GearedModel
from geared_dynamics.simulation.plants.settings import Faults, PlantSettings


class Encoders:
    """The motors' encoders; what they show depends on what they showed.

    Attributes:
        angle: What they show (m,) [rad].
        speed: What is made of it (m,) [rad/s].
    """

    def __init__(self, model: GearedModel, settings: PlantSettings) -> None:
        """Lay out; ``start`` gives the first values."""
        self._settings, self._motors = settings, model.motor_names
        self._random = np.random.default_rng(settings.seed)
        counts = settings.encoder_counts
        self._count = None if counts is None else 2.0 * np.pi / counts
        self.angle, self.speed = np.zeros((2, len(self._motors)))

    def start(self, angle: Array, speed: Array) -> None:
        """Begin at an angle and a speed."""
        self._random = np.random.default_rng(self._settings.seed)
        self.angle, self.speed = self._quantised(angle), speed.copy()

    def sample(self, angle: Array, speed: Array, elapsed: float, faults: Faults) -> None:
        """Look at the rotors.

        Args:
            angle: Their true angles (m,) [rad].
            speed: Their true speeds (m,) [rad/s].
            elapsed: Since the last look [s].
            faults: Which encoders stand still.
        """
        settings, count = self._settings, len(angle)
        if settings.angle_noise:
            angle = angle + settings.angle_noise * self._random.normal(size=count)
        shown = self._quantised(angle)
        if self._count is not None:
            speed = (shown - self.angle) / elapsed
        if settings.speed_noise:
            speed = speed + settings.speed_noise * self._random.normal(size=count)
        if faults.frozen_encoders:
            frozen = np.array([name in faults.frozen_encoders for name in self._motors])
            shown, speed = np.where(frozen, self.angle, shown), np.where(frozen, 0.0, speed)
        self.angle, self.speed = shown, speed

    def current(self, current: Array) -> Array:
        """Currents as they are measured."""
        if not self._settings.current_noise:
            return current
        noise = self._settings.current_noise * self._random.normal(size=len(current))
        return np.asarray(current + noise)

    def lost(self, part: float) -> bool:
        """Whether a message is lost, with a probability."""
        return part > 0.0 and bool(self._random.random() < part)

    def _quantised(self, angle: Array) -> Array:
        """Angle in whole counts."""
        if self._count is None:
            return angle
        return np.asarray(self._count * np.floor(angle / self._count + 0.5))
