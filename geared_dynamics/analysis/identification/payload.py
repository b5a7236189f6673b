"""A load from recordings with and without it: ten parameters of a body fixed to a link."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from geared_dynamics.analysis.identification.columns import base_columns, columns
from geared_dynamics.analysis.identification.equations import Equations
from geared_dynamics.analysis.identification.least_squares import solve
from geared_dynamics.analysis.reading.problems import RecordingError
from geared_dynamics.arrays import Array, BoolArray
from geared_dynamics.dynamics.base_parameters import in_words
from geared_dynamics.dynamics.columns import BODY_PARAMETERS, columns_of
from geared_dynamics.dynamics.independence import independent, plain
from geared_dynamics.model import GearedModel
from geared_dynamics.model.payload import payload_frame

STATES = 64  # random ones, to see which parameters of a load act


class Payload(NamedTuple):
    """What motion tells of a load: combinations of its ten parameters in the link's frame.

    Attributes:
        names: The combinations in words (b,).
        values: Their values (b,).
        sigma: Their standard deviations (b,).
        combinations: Of the ten parameters (b, 10).
    """

    names: tuple[str, ...]
    values: Array
    sigma: Array
    combinations: Array


def payload(
    model: GearedModel, found: Equations, loaded: BoolArray, link: str | None = None
) -> Payload:
    """Identify a load together with the arm.

    Args:
        model: The arm without the load.
        found: Equations of recordings with and without it.
        loaded: Samples with the load (k,).
        link: The link that holds it, in whose frame it is found; any that moves, frames of
            fixed joints included. None: the only tip.

    Raises:
        GearedDynamicsError: If there is no such link, or several tips and none is given.
        RecordingError: If one of the two kinds of recordings is missing.
    """
    frame = payload_frame(model, link, "payload: link")
    if loaded.all() or not loaded.any():
        finding = "all recordings are " + ("with" if loaded.all() else "without") + " the load"
        remedy = "give recordings with and without it: the arm's tip alone looks the same"
        raise RecordingError("payload", finding, remedy)
    selection = list(base_columns(model).selection)
    first = columns_of(model).bodies[frame.body]
    own = slice(first, first + len(BODY_PARAMETERS))
    turn = np.stack([frame.in_body(unit) for unit in np.eye(len(BODY_PARAMETERS))], axis=1)
    random = np.random.default_rng(0)
    q = random.uniform(-np.pi, np.pi, (STATES, model.n))
    v, a = 3.0 * random.normal(size=(2, STATES, model.n))
    acting = (columns(model, q, v, a)[..., own] @ turn).reshape(-1, len(BODY_PARAMETERS))
    kept, combinations, *_ = independent(plain(acting))
    words = tuple(in_words(row, BODY_PARAMETERS) for row in combinations)
    load = (found.Y[..., own] @ turn)[..., list(kept)] * loaded[:, None, None]
    Y = np.concatenate([found.Y[..., selection], load], axis=-1)
    solution = solve(Y, found.tau, found.used)
    sigma = np.sqrt(np.maximum(solution.covariance.diagonal(), 0.0))
    b = len(selection)
    return Payload(words, solution.x[b:], sigma[b:], combinations)
