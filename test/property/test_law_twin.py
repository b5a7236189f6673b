"""Every law is the sum that its equation says, term by term, from public functions of the model.

Arms of all kinds, switches, gains and velocities of the friction at random; compiled or not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from control_arms import arms, sample
from geared_dynamics.control.laws import decelerate

control = gd.control
ARMS = arms()
TERMS = {
    "use_gravity_compensation": "gravity",
    "use_coriolis_compensation": "coriolis",
    "use_inertia_feedforward": "inertia",
    "use_rotor_inertia": "rotor_inertia",
    "use_rotor_coupling": "rotor_coupling",
}
DYNAMIC = ("use_inertia_feedforward", "use_rotor_inertia", "use_rotor_coupling")


def modelled(model: Any, on: control.Terms, q: Any, v: Any, a: Any) -> np.ndarray:
    """tau_s: the terms that are switched on, without friction."""
    parts = control.term_torques(model, q, v, a)._asdict()
    chosen = [parts[name] for switch, name in TERMS.items() if getattr(on, switch)]
    return np.sum([np.zeros(model.n), *chosen], axis=0)


def friction(model: Any, on: control.Terms, q: Any, v: Any, a: Any, rate: Any) -> np.ndarray:
    """F: that of the joints at a rate, under the whole load."""
    return control.term_torques(model, q, v, a, rate=rate).friction * float(on.use_friction)


def switches(random: np.random.Generator) -> control.Terms:
    """All on as often as one off or several."""
    kind = random.integers(3)
    names = [*TERMS, "use_friction"]
    off = [] if kind == 0 else random.choice(names, 1 if kind == 1 else 3, replace=False)
    return control.Terms(**{str(name): False for name in off})


def close(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-9 * np.abs(wanted).max() + 1e-12)


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("law", control.laws.LAWS)
def test_laws(name: str, law: str) -> None:
    model, random = ARMS[name], np.random.default_rng(len(name) + 10 * len(law))
    n = model.n
    for trial in range(6):
        on = control.Terms() if trial == 0 else switches(random)
        kind = (
            "acceleration" if law == "computed_torque" else ("torque", "acceleration")[trial % 2]
        )
        kp, kv, ki = random.uniform(1.0, 30.0, (3, n))
        gains = control.Gains(kp, kv, ki if trial % 3 else 0.0, kind=kind)
        rate = ("reference", "measured")[trial // 3]
        closed = law in ("computed_torque", "pd_plus_feedforward")
        made = control.controller(
            model, law, gains=gains if closed else None, terms=on, friction_rate=rate
        )
        q, v, a = sample(model, trial)
        state = gd.State(*(np.array([q, v]) + random.normal(scale=0.2, size=(2, n))))
        z = random.normal(size=n) if trial % 3 else np.zeros(n)
        _, out = made.step(control.Memory(z), state, control.Reference(q, v, a), 1e-3)
        f = kp * (q - state.q) + kv * (v - state.v) + gains.for_joints(n).ki * z
        force = gd.mass_matrix(model, state.q) @ f if kind == "acceleration" else f
        rubs = v if law == "feedforward" or rate == "reference" else state.v
        if law == "gravity_compensation":
            wanted = modelled(model, on, state.q, 0.0 * v, 0.0 * a)
        elif law == "computed_torque":
            whole = all(getattr(on, switch) for switch in DYNAMIC)
            moves = a + f if whole else a  # what the model's friction sees as load
            wanted = modelled(model, on, state.q, state.v, a) + force
            wanted = wanted + friction(model, on, state.q, state.v, moves, rubs)
        else:
            wanted = modelled(model, on, q, v, a) + friction(model, on, q, v, a, rubs)
            wanted = wanted + (force if closed else 0.0)
        close(out.command, wanted)
        close(out.joint_torque, wanted)


@pytest.mark.parametrize("name", ARMS)
def test_holding_and_slowing_down(name: str) -> None:
    model, random = ARMS[name], np.random.default_rng(len(name))
    for trial in range(6):
        on = control.Terms() if trial == 0 else switches(random)
        q, v, a = sample(model, trial)
        posture, rate = q + random.normal(scale=0.3, size=model.n), random.normal(size=model.n)
        kp, kv = random.uniform(1.0, 30.0, (2, model.n))
        kind = ("acceleration", "torque")[trial % 2]
        gains = control.Gains(kp, kv, 3.0, kind=kind)
        made = control.controller(model, "pd_plus_feedforward", gains=gains, terms=on)
        still = 0.0 * v
        f = kp * (posture - q) - kv * v
        force = gd.mass_matrix(model, q) @ f if kind == "acceleration" else f
        close(made.hold(posture, q, v), modelled(model, on, q, still, still) + force)
        for blind in ((None, None), (q, None), (None, v)):
            held = made.hold(posture, *blind)
            close(held, modelled(model, on, posture, still, still))
        open_loop = control.controller(model, terms=on)
        close(open_loop.hold(posture, q, v), modelled(model, on, q, still, still))
        moving = modelled(model, on, q, v, a) + friction(model, on, q, v, a, v)
        close(open_loop.open_loop(q, v, a), moving)
        wanted = modelled(model, on, q, v, still) + gd.mass_matrix(model, q) @ a
        wanted = wanted + friction(model, on, q, v, a, rate)
        close(made.brake.command(q, v, a, rate), wanted)
        assert made.brake.closed


def test_a_ratio_one_percent_off_shows() -> None:
    """Negative control."""
    from dataclasses import replace

    model = ARMS["complete"]
    wrong = replace(model, wheels=replace(model.wheels, spin=1.01 * model.wheels.spin))
    q, v, a = sample(model)
    out = control.controller(model).open_loop(q, v, a)
    rubs = friction(wrong, control.Terms(), q, v, a, v)
    with pytest.raises(AssertionError):
        close(out, modelled(wrong, control.Terms(), q, v, a) + rubs)


def test_laws_without_gains_are_the_model_alone() -> None:
    """As functions, on a setting of one's own."""
    model = ARMS["complete"]
    setting = control.Setting(control.compensation(model), None, None, "reference")
    q, v, a = sample(model)
    state, reference = gd.State(q + 0.1, v - 0.2), control.Reference(q, v, a)
    on = control.Terms()
    found = control.computed_torque(setting, state, reference).torque
    rubs = friction(model, on, state.q, state.v, a, v)
    close(found, modelled(model, on, state.q, state.v, a) + rubs)
    found = control.pd_plus_feedforward(setting, state, reference).torque
    close(found, modelled(model, on, q, v, a) + friction(model, on, q, v, a, v))
    found = control.hold(setting, state, q).torque
    close(found, modelled(model, on, state.q, 0.0 * v, 0.0 * a))
    demand = decelerate(setting, q, v, a, v)
    np.testing.assert_array_equal(demand.torque, demand.net + demand.friction)
    assert control.gravity_compensation(setting, state).friction is None


@pytest.mark.parametrize("law", control.laws.LAWS)
@pytest.mark.parametrize("rate", ["reference", "measured"])
def test_terms_are_told_where_the_law_takes_them(law: str, rate: str) -> None:
    model = ARMS["complete"]
    q, v, a = sample(model)
    state, reference = gd.State(q + 0.2, v - 0.3), control.Reference(q, v, a)
    closed = law in ("computed_torque", "pd_plus_feedforward")
    gains = control.Gains(9.0, 6.0) if closed else None
    made = control.controller(model, law, gains=gains, friction_rate=rate)
    at = (q, v) if law in ("feedforward", "pd_plus_feedforward") else state[:2]
    rubs = state.v if closed and rate == "measured" else v
    for found, where, slides in (
        (made.term_torques(state, reference), at, rubs),
        (made.term_torques(None, reference), (q, v), v),
    ):
        wanted = control.term_torques(model, *where, a, rate=slides)
        np.testing.assert_array_equal(found, wanted)


def test_what_is_no_model_is_refused_as_such() -> None:
    made = control.controller(ARMS["low ratio"])
    gains = control.gains_from_bandwidth(5.0)
    calls: list[Any] = [
        control.compensation,
        control.controller,
        made.with_model,
        lambda model: control.torque_gains(model, gains, [0.0]),
        lambda model: control.term_torques(model, *[np.zeros(1)] * 3),
    ]
    for call in calls:
        with pytest.raises(gd.GearedDynamicsError, match=r"^model: "):
            call("arm.urdf")
