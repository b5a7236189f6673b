"""Hostile calls of all that takes arrays: arguments are spoilt, or laid out oddly."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import elastic_arms
import geared_dynamics as gd
from fuzz import Call, compiled_calls, contact_calls
from fuzz.arrays import hostile_result, laid_out, spoilt

URDF = Path(__file__).resolve().parents[2] / "urdf"
TURN = 2 * np.pi / 2**17
# What only our own functions write into states and gains: who forges it gets some exception,
# and no crash.
OWN = {
    field
    for kind in (
        gd.observers.KalmanState, gd.observers.NonlinearState, gd.observers.RedundantState,
        gd.observers.MomentumState, gd.observers.AlarmState,
    )
    for field in kind._fields
} - {"mean"}  # fmt: skip
ob, ct, tr = gd.observers, gd.control, gd.trajectory


def numbers(result: Any) -> list[float]:
    """All numbers of a result, whatever it is packed in."""
    if isinstance(result, np.ndarray):
        return result.astype(float).ravel().tolist() if result.dtype.kind in "fiub" else []
    if isinstance(result, bool | float | int | np.number):
        return [float(result)]
    if isinstance(result, tr.Spline | tr.Piecewise | tr.Reference | tr.Prepared):
        result = list(vars(result).values())
    if isinstance(result, tuple | list):
        return [part for item in result for part in numbers(item)]
    return []


def rigid_calls(model: gd.GearedModel, rng: np.random.Generator) -> dict[str, Call]:
    """The dynamics of rigid arms, their motors included where they are complete."""
    n, m = model.n, len(model.motor_names)
    q, v, a, tau = rng.normal(size=(4, n))
    given = {"q": q, "v": v, "a": a, "tau": tau, "external": tau, "torque": rng.normal(size=m)}
    given |= {"current": rng.normal(size=m), "voltage": rng.normal(size=m)}
    table: dict[Callable[..., Any], str] = {
        gd.inverse_dynamics: "q v a out", gd.forward_dynamics: "q v tau out",
        gd.mass_matrix: "q out", gd.coriolis_matrix: "q v out", gd.bias_forces: "q v out",
        gd.gravity_forces: "q out", gd.kinetic_energy: "q v", gd.potential_energy: "q",
        gd.kinetic_energy_terms: "q v", gd.regressor: "q v a", gd.wheel_contributions: "q v a",
        gd.friction_forces: "v", gd.motor_angles: "q", gd.motor_speeds: "v",
        gd.motor_torques: "tau", gd.balancer_forces: "q", gd.balancer_energy: "q",
    }  # fmt: skip
    if not np.isnan(model.motors.resistance).any():
        table |= {
            gd.motor_commands: "q v a", gd.driven_acceleration: "q v voltage external",
            gd.driven_rates: "q v current voltage external", gd.driven_terms: "q v",
            gd.motion_from_torque: "q v torque external", gd.sticking: "q v torque external",
            gd.power_balance: "q v a current external",
        }  # fmt: skip
    given["out"] = None
    calls = {f.__name__: Call(partial(f, model), {k: given[k] for k in names.split()})
             for f, names in table.items()}  # fmt: skip
    path = rng.normal(size=(3, n))
    calls["inverse_dynamics_time_derivatives"] = Call(
        partial(gd.inverse_dynamics_time_derivatives, model),
        {"derivatives": rng.normal(size=(5, n))},
    )
    frame = next(reversed(model.frame_table))
    for f, names in ((gd.pose, "q"), (gd.jacobian, "q"), (gd.jacobian_drift, "q v")):
        good = {"frame": frame, **{k: given[k] for k in names.split()}}
        calls[f.__name__] = Call(partial(f, model), good)
    batch = {"q": path, "v": 2 * path, "a": 3 * path}
    calls["batch"] = Call(partial(gd.inverse_dynamics, model), batch)
    return calls


def by_parts(function: Any, model: gd.GearedModel, **given: Any) -> Any:
    """Call a function of elastic arms with its arrays by name; those of a state become one."""
    if "theta" in given or "vtheta" in given:
        parts = {name: given.pop(name, np.zeros(model.n)) for name in ("q", "v")}
        parts |= {name: given.pop(name, None) for name in ("theta", "vtheta")}
        return function(model, gd.State(**parts), **given)
    return function(model, **given)


def elastic_calls(model: gd.GearedModel, rng: np.random.Generator) -> dict[str, Call]:
    """Elastic dynamics, their simulation, and the cartesian model."""
    n = model.n
    m, rigid = len(model.motor_names), model.elasticity.rigid
    q, v, a, tau = 0.3 * rng.normal(size=(4, n))
    theta, vtheta, atheta = rigid @ q + 1e-3, rigid @ v, rigid @ a
    tau_m, names = rng.normal(size=m), ("q", "theta", "v", "vtheta")
    given: dict[str, Any] = dict(zip(names, (q, theta, v, vtheta), strict=True))
    given |= {"a": a, "atheta": atheta, "tau_m": tau_m, "tau": tau, "out": None}
    given["f_ext"] = rng.normal(size=(n, 6))
    given["derivatives"] = 0.1 * rng.normal(size=(6, n))
    el = gd.elastic
    table = {
        el.inverse_dynamics: "q theta v vtheta a atheta f_ext out",
        el.forward_dynamics: "q theta v vtheta tau_m f_ext tau out",
        el.mass_matrix: "q out", el.bias_forces: "q v vtheta out", el.modes: "q",
        el.coriolis_matrix: "q v vtheta out", el.joint_torque: "q theta v vtheta",
        el.kinetic_energy: "q v vtheta", el.friction_forces: "q theta v vtheta",
        el.motor_angles: "q theta",
        gd.cartesian.accelerations: "q theta v vtheta tau_m",
        gd.cartesian.dynamics: "q theta v vtheta", gd.cartesian.properties: "q",
    }  # fmt: skip
    calls = {f"elastic.{f.__name__}":
             Call(partial(by_parts, f, model), {k: given[k] for k in use.split()})
             for f, use in table.items()}  # fmt: skip
    path = {"derivatives": given["derivatives"]}
    for f in (el.feedforward, el.motor_commands):
        calls[f"elastic.{f.__name__}"] = Call(partial(f, model, method="expanded", order=1), path)
    state = gd.State(q, v, theta, vtheta)
    for f, more in ((gd.simulation.elastic_rates, {}), (gd.simulation.elastic_step, {"dt": 1e-3})):
        calls[f.__name__] = Call(partial(f, model), {"state": state, **more, "torque": tau_m,
                                                     "external": tau})  # fmt: skip
    times = {"state": state, "times": np.array([0.0, 0.01, 0.02])}
    simulate = partial(gd.simulation.simulate_elastic, model, max_evaluations=10_000)
    calls["simulate_elastic"] = Call(simulate, times)
    return calls


def observer_calls(model: gd.GearedModel, rng: np.random.Generator) -> dict[str, Call]:
    """Starts and steps of all observers, with the fields of their states as arguments too."""
    n, m = model.n, len(model.motor_names)
    shown = gd.elastic.motor_angles(
        model, gd.State(np.zeros(n), np.zeros(n), np.zeros(model.elasticity.count))
    )
    measured = gd.Measurement(shown + model.motor_zeros, 0.1 * rng.normal(size=m))
    kalman = ob.kalman_gains(model, resolution=TURN)
    other = ob.nonlinear_gains(model, resolution=TURN)
    first = ob.nonlinear_start(model, other, measured)
    states = (ob.kalman_start(model, kalman, measured), first, ob.redundant_start(model, first))
    steps = (ob.kalman_step, ob.nonlinear_step, ob.redundant_step)
    calls = {}
    for f, gains, state in zip(steps, (kalman, other, other), states, strict=True):
        good = {"gains": gains, "state": state, "measurement": measured, "dt": 1e-3}
        calls[f.__name__] = Call(partial(f, model), good)
        calls[f"estimate after {f.__name__}"] = Call(
            partial(ob.estimate, model), {"state": state, "gains": gains}
        )
    for start, gains in ((ob.kalman_start, kalman), (ob.nonlinear_start, other)):
        good = {"gains": gains, "measurement": measured, "q": np.zeros(n)}
        calls[start.__name__] = Call(partial(start, model), good)
    for gain in (ob.kalman_gains, ob.nonlinear_gains):
        good = {"resolution": np.full(m, TURN), "noise": np.full(m, TURN), "bandwidth": 30.0}
        calls[gain.__name__] = Call(partial(gain, model), good)
    zero, shaft = np.zeros(n), np.zeros(model.elasticity.count)
    moving = ob.Moving(gd.State(zero, zero, shaft, shaft), np.zeros(m))
    momentum = ob.momentum_start(model, moving)
    calls["momentum_step"] = Call(partial(ob.momentum_step, model),
        {"bandwidth": 30.0, "state": momentum, "moving": moving, "dt": 1e-3})  # fmt: skip
    push = {"external": rng.normal(size=n), "v": zero, "vtheta": shaft, "floor": np.ones(n)}
    calls["alarm"] = Call(partial(ob.alarm, model), push)
    calls["alarm_step"] = Call(partial(ob.alarm_step, model),
                               {"state": ob.alarm_start(model), "dt": 1e-3, **push})  # fmt: skip
    link = next(reversed(model.frame_table))
    wrench = {"q": zero, "external": push["external"], "frame": link, "covariance": np.eye(n)}
    calls["contact_wrench"] = Call(partial(ob.contact_wrench, model), wrench)
    return calls


def control_calls(
    rigid: gd.GearedModel, elastic: gd.GearedModel, rng: np.random.Generator
) -> dict[str, Call]:
    """One cycle of every law."""
    calls, n = {}, rigid.n
    gains = ct.gains_from_bandwidth(np.full(n, 20.0), integral=0.1)
    q, v, a = 0.3 * rng.normal(size=(3, n))
    for law in ("feedforward", "gravity_compensation", "computed_torque", "pd_plus_feedforward"):
        use = gains if law in ("computed_torque", "pd_plus_feedforward") else None
        for side in ("joint_torque", "motor_torque"):
            made = ct.controller(rigid, law, gains=use, command_type=side)
            good = {"memory": made.start(), "state": gd.State(q, v),
                    "reference": ct.Reference(q, v, a), "dt": 1e-3}  # fmt: skip
            calls[f"{law} {side}"] = Call(made.step, good)
            calls[f"hold {law} {side}"] = Call(made.hold, {"posture": q, "q": q, "v": v})
    shafts = elastic.elasticity.rigid @ np.array([q, v]).T
    state = gd.State(q, v, shafts[:, 0], shafts[:, 1])
    small = ct.gains_from_modes(elastic, np.zeros(n))
    for law, use in (("flatness", None), ("flatness_plus_pd", small)):
        made = ct.elastic_controller(elastic, law, gains=use)
        path = np.zeros((made.derivatives_needed + 1, n))
        path[:3] = q, v, a
        wanted = ct.Reference(q, v, a, derivatives=path)
        good = {"memory": made.start(), "state": state, "reference": wanted, "dt": 1e-3}
        calls[f"elastic {law}"] = Call(made.step, good)
        calls[f"elastic hold {law}"] = Call(made.hold, {"posture": q, "q": q, "v": v})
    calls["closed_loop_poles"] = Call(
        partial(ct.closed_loop_poles, elastic, small), {"q": q, "delay": 1e-3, "sample_time": 1e-3}
    )
    return calls


def listed_(value: Any) -> list[Any]:
    """What a value is a list of, or a list of it."""
    return list(value) if isinstance(value, list) or np.ndim(value) else [value]


def trajectory_calls(rng: np.random.Generator) -> dict[str, Call]:
    """Motions and their samples."""
    start, goal, limit = *rng.normal(size=(2, 3)), np.ones(3)
    times, points = np.array([0.0, 0.4, 1.0]), rng.normal(size=(3, 3))
    spline = tr.rest_to_rest(start, goal, 1.0, continuous=3)
    profile = {"start": start, "goal": goal, "velocity": limit, "acceleration": limit}
    rules = tr.Rules(("a", "b", "c"))

    def followed(first: Any, times: Any, points: Any, now: Any) -> Any:
        listed = [tr.Point(t, p) for t, p in zip(listed_(times), listed_(points), strict=False)]
        found = tr.checked(tr.JointTrajectory(["a", "b", "c"], listed), rules, now)
        return tr.sample(tr.follow(found, tr.state(first), now, rules), now + 0.3)

    def rows(t: Any) -> np.ndarray:
        out = np.empty((4, 3))
        tr.derivatives_into(tr.prepare(spline, 3), t, out)
        return out

    return {
        "rest_to_rest": Call(partial(tr.rest_to_rest, continuous=3),
                             {"start": start, "goal": goal, "duration": 1.0}),
        "through": Call(partial(tr.through, continuous=2), {"times": times, "points": points}),
        "trapezoidal": Call(tr.trapezoidal, profile),
        "jerk_bounded": Call(tr.jerk_bounded, {**profile, "jerk": 10 * limit}),
        "derivatives_into": Call(rows, {"t": 0.4}),
        "follow": Call(followed, {"first": start, "times": times + 0.1, "points": points,
                                  "now": 0.0}),
    }  # fmt: skip


@cache
def calls() -> dict[str, Call]:
    """Every call by name."""
    rng = np.random.default_rng(0)
    files = {name: (URDF / f"{name}.urdf", URDF / f"{name}.drivetrain.yaml")
             for name in ("elbow", "brisk6")}  # fmt: skip
    elbow, brisk = (gd.load_model(*pair) for pair in files.values())
    springs = elastic_arms.elbow(2.0)
    found: dict[str, Call] = {}
    for name, model in (("elbow", elbow), ("brisk6", brisk)):
        found |= {f"{name}.{k}": one for k, one in rigid_calls(model, rng).items()}
    found |= elastic_calls(springs, rng) | observer_calls(springs, rng)
    found |= control_calls(elbow, springs, rng) | trajectory_calls(rng)
    found |= contact_calls.calls(rng) | compiled_calls.texts()
    for model in (elbow, brisk):
        fast = compiled_calls.fast(model)
        every = rigid_calls(fast, rng) | compiled_calls.derivatives(fast, rng)
        found |= {f"compiled {model.name}.{k}": one for k, one in every.items()}
    return found


def places(good: Mapping[str, Any]) -> list[tuple[str, str | None]]:
    """Arguments, and fields of those that are records."""
    found: list[tuple[str, str | None]] = []
    for name, value in good.items():
        fields = getattr(value, "_fields", ())
        found += [(name, field) for field in fields] or [(name, None)]
    return found


def changed(
    good: Mapping[str, Any], place: tuple[str, str | None], change: Callable[[Any], Any]
) -> dict[str, Any]:
    """The arguments with one of them, or one field of it, changed."""
    name, field = place
    if field is None:
        return {**good, name: change(good[name])}
    return {**good, name: good[name]._replace(**{field: change(getattr(good[name], field))})}


def run(case: bytes) -> str:
    """Make the call of a seed and say what came of it.

    Raises:
        AssertionError: where the same numbers in another layout give another result.
        Exception: whatever is not one of the package's errors.
    """
    rng = np.random.default_rng(int(case))
    name, call = list(calls().items())[rng.integers(len(calls()))]
    if "out" in call.good and rng.random() < 0.3:
        return into_result(name, call, rng)
    same = rng.random() < 0.3
    given: dict[str, Any] = dict(call.good)
    given.pop("out", None)
    options, forged = places(given), False
    if same:  # states and gains are made by our own functions
        options = [place for place in options if place[0] not in ("state", "gains")] or options[:0]
    for _ in range(min(1 + (rng.random() < 0.3), len(options))):
        place = options[rng.integers(len(options))]
        value = given[place[0]] if place[1] is None else getattr(given[place[0]], place[1])
        if isinstance(value, np.ndarray) and value.dtype == float:
            change = partial(laid_out if same else spoilt, rng=rng)
        elif same or not isinstance(value, float | int | str | np.ndarray | None):
            continue
        else:
            change = partial(spoilt_number, rng=rng)
        given = changed(given, place, change)
        forged |= place[0] == "gains" or (place[0] == "state" and place[1] in OWN)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = call.function(**given)
        except gd.GearedDynamicsError:
            assert not same, f"{name} refuses the same numbers in another layout"
            return "refused"
        except Exception:
            if not forged:
                raise
            return "forged"
        if same:
            plain = {k: x for k, x in call.good.items() if k != "out"}
            found, wanted = numbers(result), numbers(call.function(**plain))
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12, err_msg=name)
    return "same" if same else "taken"


def into_result(name: str, call: Call, rng: np.random.Generator) -> str:
    """Make a good call with something odd for ``out``: it is refused, or holds the result."""
    given = {k: np.array(x) if isinstance(x, np.ndarray) else x for k, x in call.good.items()}
    wanted = call.function(**given)
    if not isinstance(wanted, np.ndarray):
        return "no array"
    out, changes = hostile_result(wanted, given, rng)
    if out is None:
        return "no result given"
    try:
        result = call.function(**{**given, **changes, "out": out})
    except gd.GearedDynamicsError:
        return "refused"
    assert result is out, f"{name} returns another array than out"
    np.testing.assert_allclose(result, wanted, rtol=1e-9, atol=1e-12, err_msg=name)
    return "filled"


def spoilt_number(_: Any, rng: np.random.Generator) -> Any:
    """Something in a number's place."""
    return spoilt(np.asarray(1.0), rng)
