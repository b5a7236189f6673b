"""How a wheel's speed is shown."""

from __future__ import annotations

import pytest

from geared_dynamics.scene.live import turns


@pytest.mark.parametrize(
    ("speed", "shown"),
    [(-0.051, "-0.5"), (0.0, "0.0"), (1.0, "9.5"), (-10.0, "-95")],
)
def test_a_slow_wheel_has_a_decimal(speed: float, shown: str) -> None:
    assert turns(speed) == shown
