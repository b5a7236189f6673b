"""How large a number of a description may be."""

from __future__ import annotations

from geared_dynamics.errors import DescriptionError

# The sun has 2e30 kg. Below this bound nothing that a model is made of overflows: the
# largest product is an inertia times the square of a ratio and of a mimic's multiplier.
LARGEST = 1e30


def refuse_too_large(value: float, place: str) -> None:
    """Refuse a number beyond anything that an arm can have, or one that is not finite.

    Raises:
        DescriptionError: At ``place``.
    """
    if not abs(value) <= LARGEST:
        raise DescriptionError(
            place,
            f"{value:g} is too large a number",
            f"write it in SI units; no arm has a number beyond {LARGEST:g}",
        )
