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
from geared_dynamics.errors import UnknownNameError
from geared_dynamics.model import GearedModel

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


def payload(model: GearedModel, found: Equations, loaded: BoolArray, link: str) -> Payload:
    """Identify a load together with the arm.

    Args:
        model: The arm without the load.
        found: Equations of recordings with and without it.
        loaded: Samples with the load (k,).
        link: The moving link that holds it.

    Raises:
        RecordingError: If one of the two kinds of recordings is missing.
    """
    if link not in model.body_names:
        raise UnknownNameError("payload: link", "moving link", link, model.body_names)
    if loaded.all() or not loaded.any():
        finding = "all recordings are " + ("with" if loaded.all() else "without") + " the load"
        remedy = "give recordings with and without it: the arm's tip alone looks the same"
        raise RecordingError("payload", finding, remedy)
    selection = list(base_columns(model).selection)
    first = columns_of(model).bodies[model.body_names.index(link)]
    own = list(range(first, first + len(BODY_PARAMETERS)))
    random = np.random.default_rng(0)
    q = random.uniform(-np.pi, np.pi, (STATES, model.n))
    v, a = 3.0 * random.normal(size=(2, STATES, model.n))
    found_base = independent(plain(columns(model, q, v, a)[..., own].reshape(-1, 10)))
    kept, combinations = found_base.selection, found_base.combinations
    words = tuple(in_words(row, BODY_PARAMETERS) for row in combinations)
    load = found.Y[..., [own[k] for k in kept]] * loaded[:, None, None]
    Y = np.concatenate([found.Y[..., selection], load], axis=-1)
    solution = solve(Y, found.tau, found.used)
    sigma = np.sqrt(np.maximum(solution.covariance.diagonal(), 0.0))
    b = len(selection)
    return Payload(words, solution.x[b:], sigma[b:], combinations)
