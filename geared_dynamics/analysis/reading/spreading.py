"""Some of many pieces, spread over all of them."""

from __future__ import annotations

import numpy as np


def spread(count: int, most: int) -> list[int]:
    """Numbers of at most ``most`` of ``count`` pieces, with the first and the last one."""
    places = np.linspace(0, max(count - 1, 0), min(count, most))
    return [int(place) for place in np.unique(places.round())]
