"""Hostile calls of arms in contact: what they touch, their motion, impacts and laws."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import contact_arms
import geared_dynamics as gd
from fuzz import Call

ct = gd.contact
SOLID = {
    "velocity": np.zeros(3), "acceleration": np.zeros(3), "angular_velocity": np.zeros(3),
    "along": np.array([0.0, 1.0, 0.0]), "tool_axis": np.array([0.0, 0.0, 1.0]),
}  # fmt: skip


def calls(rng: np.random.Generator) -> dict[str, Call]:
    """Every call by name, of the planar arm whose tip is at a wall."""
    model = contact_arms.planar()
    q, v, tau = contact_arms.Q.copy(), np.array([0.0, 0.0]), contact_arms.TAU.copy()
    support = ct.Environment(contact_arms.wall(), 1e4, damping=10.0, mass=0.1)
    soft = ct.Environment(contact_arms.wall(), 1e4, mass=0.1, tool_stiffness=1e5)
    floor = ct.Surface("tip", contact_arms.tip(), (0.0, 1.0, 0.0))
    scenes: dict[str, Any] = {
        "wall": contact_arms.wall(), "edge": [contact_arms.wall(), floor], "support": support,
        "soft": soft, "lock": ct.LockedGear("motor_1"),
        "pin": ct.Constraint(lambda q, _t: q[0] - contact_arms.Q[0]),
        "place": ct.Constraint(lambda x, _t: x[0, 3] - contact_arms.tip()[0], frame="tip"),
    }  # fmt: skip
    found = {}
    for name, contacts in scenes.items():
        ready = ct.prepare(model, contacts)
        state: dict[str, Any] = {"q": q, "v": v, "t": 0.0}
        if name in ("support", "soft"):
            state["depth"] = np.array([[0.0, 0.0]])
        numbers = {"friction": 0.0, "tolerance": 1e-3}
        motion = {**state, "tau": tau, **numbers}
        found[f"constrained_dynamics {name}"] = Call(
            partial(ct.constrained_dynamics, model, ready), motion
        )
        struck = {**state, **numbers, "restitution": 0.3}
        struck["v"] = contact_arms.V if name in ("wall", "support") else v
        found[f"impact {name}"] = Call(partial(ct.impact, model, ready), struck)
        state.pop("depth", None)
        see = partial(ct.coordinates, model, ready, free=name == "wall")
        found[f"contact.coordinates {name}"] = Call(see, state)
    # A function that another one made: anything may come back from it.
    found["Constraint.function"] = Call(partial(by_function, model), {"s": np.zeros(2)})
    found["Environment.stiffness"] = Call(partial(by_law, model), {"k": 1e4, "b": 3.0})
    push = {"q": q, "direction": np.array([1.0, 0.2, 0.0])}
    found["effective_mass"] = Call(partial(ct.effective_mass, model, frame="tip"), push)
    return found | shapes() | motions(model, rng) | laws(model)


def by_function(model: gd.GearedModel, s: Any) -> Any:
    """Coordinates that a user's function gives."""
    given = ct.Constraint(lambda _q, _t: s, 2)
    return ct.coordinates(model, given, contact_arms.Q, contact_arms.V, free=False)


def by_law(model: gd.GearedModel, k: Any, b: Any) -> Any:
    """Motion on a support whose stiffness and damping are a user's functions."""
    given = ct.Environment(contact_arms.wall(1e-3), lambda _s: k, damping=lambda _s, _r: b)
    none = np.zeros(2)
    return ct.constrained_dynamics(model, given, contact_arms.Q, none, none, tolerance=1.0)


def shapes() -> dict[str, Call]:
    """What is touched, made of numbers."""
    point, axis = np.array([0.3, 0.2, 0.0]), np.array([1.0, 0.0, 0.0])
    numbers = {"stiffness": 1e4, "damping": 1.0, "mass": 0.1, "tool_stiffness": 1e5}
    return {
        **{kind.__name__: Call(partial(kind, "tip"), {"point": point, name: axis, **SOLID})
           for kind, name in ((ct.Surface, "normal"), (ct.Line, "direction"), (ct.Peg, "axis"))},
        "frame": Call(ct.Surface, {"frame": "tip", "point": point, "normal": axis}),
        "Environment": Call(partial(ct.Environment, contact_arms.wall()), numbers),
        "Environment.surface": Call(on_surface, {"surface": ""}),
        "Constraint": Call(partial(ct.Constraint, len), {"count": 1, "bilateral": True}),
        "springs_in_series": Call(lambda a, b: ct.springs_in_series(a, b), {"a": 1.0, "b": 2e4}),
    }  # fmt: skip


def on_surface(surface: Any) -> Any:
    """A support of something that should be a surface."""
    shape = contact_arms.wall() if isinstance(surface, str) and not surface else surface
    return ct.Environment(shape, 1e4)


def motions(model: gd.GearedModel, rng: np.random.Generator) -> dict[str, Call]:
    """Short simulations."""
    bounds = {"rtol": 1e-5, "atol": 1e-7, "max_events": 20, "max_evaluations": 5_000}
    run = partial(ct.simulate, model, contact_arms.wall(), **bounds)
    still = {"q": contact_arms.Q - 0.1, "v": 0.1 * rng.normal(size=2)}
    good = {**still, "times": np.array([0.0, 0.005, 0.01]), "tau": np.zeros(2)}
    return {
        "contact.simulate": Call(run, good),
        "contact.simulate numbers": Call(
            partial(run, **still, times=[0.0, 0.01]),
            {"restitution": 0.5, "friction": 0.1, "rest": 1e-4},
        ),
        "prepare": Call(partial(ct.prepare, model, contact_arms.wall()), {"stabilisation": 20.0}),
    }


def laws(model: gd.GearedModel) -> dict[str, Call]:
    """A desired force, and laws that keep it."""
    q, v, a = contact_arms.Q.copy(), contact_arms.SLIDING.copy(), np.array([0.1, -0.2])
    wall = ct.prepare(model, contact_arms.wall())
    wish = {"force": np.array([20.0]), "q": q, "v": v, "t": 0.0, "friction": 0.2}
    found = {"desired_contact": Call(partial(gd.control.desired_contact, model, wall), wish)}
    wanted = gd.control.desired_contact(model, wall, [20.0], q, v)
    gains = gd.control.gains_from_bandwidth(np.full(2, 20.0), integral=0.1)
    for law in ("feedforward", "computed_torque", "pd_plus_feedforward"):
        made = gd.control.controller(model, law, gains=None if law == "feedforward" else gains)

        def step(made: Any = made, **given: Any) -> Any:
            touch = wanted._replace(
                **{name: given.pop(name) for name in wanted._fields if name in given}
            )
            path = gd.control.Reference(given["q_d"], given["v_d"], given["a_d"], contact=touch)
            state = gd.State(given["q"], given["v"])
            return made.step(made.start(), state, path, given["dt"])

        good = {**wanted._asdict(), "q": q, "v": v, "q_d": q + 0.01, "v_d": v, "a_d": a}
        found[f"hybrid {law}"] = Call(step, {**good, "dt": 1e-3})
    return found
