"""Limits, gains, integrals, arguments of control: at their edges, and by name."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import geared_dynamics as gd
from control_arms import arms, sample
from driven_arms import driven_arm
from geared_dynamics.control import laws, outputs, terms
from geared_dynamics.errors import ArrayError, UnknownNameError

control = gd.control
INF = math.inf
ARMS = arms()
GAINS = control.gains_from_bandwidth(8.0)

# -- arguments -----------------------------------------------------------------------------------


def test_how_long_a_cycle_may_last() -> None:
    for good in (0.0, 5e-324, 0.5, 3, np.float64(0.25), 1.7e308):
        assert terms.duration(good) == good
    for bad in (-5e-324, INF, -INF, math.nan, None, "soon", 10**400, [1.0, 2.0]):
        with pytest.raises(ArrayError, match=r"^dt: is .*; give a time of at least zero"):
            terms.duration(bad)


@pytest.mark.parametrize("bad", ["none", None, 3, ["each"], np.array(["each", "none"])])
@pytest.mark.parametrize(
    "name", ["law", "command_type", "saturation", "friction_rate", "feedback"]
)
def test_choices_are_refused_by_name(name: str, bad: Any) -> None:
    from simulated_arms import arm

    if name == "saturation" and isinstance(bad, str):
        return
    kinds = {"saturation": "way to saturate", "friction_rate": "velocity"}
    kinds["command_type"] = "command type"
    makers = [] if name == "feedback" else [lambda **o: control.controller(ARMS["none"], **o)]
    if name != "friction_rate":
        made = arm()
        gains = control.Gains(9.0, 3.0, kind="torque")
        makers.append(lambda **o: control.elastic_controller(made, **({"gains": gains} | o)))
    if name == "feedback":
        makers.append(lambda **o: control.closed_loop_poles(made, gains, [0.0] * 3, **o))
    for make in makers:
        with pytest.raises(UnknownNameError) as caught:
            make(**{name: bad})
        assert caught.value.place == name
        assert caught.value.finding == f"there is no {kinds.get(name, name)} {bad!r}"


CALLS = ("step", "hold", "open_loop", "decelerate")


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("elastic", [False, True])
def test_commands_that_overflow_are_refused(call: str, elastic: bool) -> None:
    """Of inputs that are finite."""
    from simulated_arms import arm

    far = 1e10  # so that nothing but the feedback overflows
    if elastic:
        model = arm()
        huge = control.Gains(1e300, 1e300, kind="torque")
        made: Any = control.elastic_controller(model, gains=huge, saturation="none")
    else:
        model = ARMS["low ratio"]
        huge = control.Gains(1e300, 1e300, kind="torque")
        made = control.controller(model, "pd_plus_feedforward", gains=huge)
    n = model.n
    none, wide = np.zeros(n), np.full(n, far)
    count = model.elasticity.count if elastic else 0
    state = gd.State(wide, none, np.full(count, far), np.zeros(count))
    path = np.zeros((made.derivatives_needed + 1 if elastic else 3, n))
    calls: dict[str, Any] = {
        "step": lambda: made.step(
            made.start(), state, control.Reference(*path[:3], derivatives=path), 0.0
        ),
        "hold": lambda: made.hold(none, wide, none),
        "open_loop": lambda: made.open_loop(none, none, np.full(n, 1e308)),
        "decelerate": lambda: made.decelerate(none, none, np.full(n, 1e308), none),
    }
    with np.errstate(all="ignore"), pytest.raises(gd.GearedDynamicsError, match="overflow"):
        calls[call]()


# -- gains ---------------------------------------------------------------------------------------


def test_gains_that_are_taken_and_not() -> None:
    assert control.Gains(0.0, 0.0).for_joints(2).integral_limit.tolist() == [INF, INF]
    assert control.Gains(1.0, 2.0).ki == 0.0
    assert control.Gains([5.0], 1.0).for_joints(3).kp.tolist() == [5.0] * 3
    assert control.Gains([5.0, 6.0], 1.0).for_joints(2).kp.tolist() == [5.0, 6.0]
    assert control.Gains(0.25, 0.5).kp == 0.25
    for name in ("kp", "kv", "ki", "integral_limit"):
        given = {"kp": 1.0, "kv": 1.0} | {name: [5.0, 6.0]}
        with pytest.raises(ArrayError, match=rf"gains\.{name}: has shape \(2,\); give one number"):
            control.Gains(**given).for_joints(3)
        for bad in (-5e-324, math.nan, -INF, *([] if name == "integral_limit" else [INF])):
            with pytest.raises(ArrayError, match=rf"gains\.{name}: is "):
                control.Gains(**(given | {name: [1.0, bad]}))


def test_gains_of_a_bandwidth() -> None:
    """e'' + 2 zeta omega e' + omega^2 e, and a part of Routh's bound for the integral."""
    found = control.gains_from_bandwidth(3.0)
    assert (found.kp, found.kv, found.ki, found.integral_limit) == (9.0, 6.0, 0.0, INF)
    found = control.gains_from_bandwidth([0.5, 4.0], 0.75, integral=0.25, integral_limit=7.0)
    assert found.kp.tolist() == [0.25, 16.0]
    assert found.kv.tolist() == [0.75, 6.0]
    assert found.ki.tolist() == [0.25 * 0.25 * 0.75, 0.25 * 16.0 * 6.0]
    assert found.integral_limit == 7.0
    control.gains_from_bandwidth(1.0, integral=np.nextafter(1.0, 0.0))
    with pytest.raises(ArrayError, match=r"integral: is 1\.0; from 1 on the loop is unstable"):
        control.gains_from_bandwidth(1.0, integral=1.0)
    for name in ("bandwidth", "damping_ratio"):
        with pytest.raises(ArrayError, match=f"{name}: is 0.0"):
            control.gains_from_bandwidth(**({"bandwidth": 1.0} | {name: 0.0}))


# -- the integral --------------------------------------------------------------------------------


def test_an_integral_stays_within_its_term() -> None:
    gains = control.Gains(1.0, 1.0, [0.0, 2.0, 0.5, 1.0], [5.0, 5.0, 5.0, INF]).for_joints(4)
    assert laws.integral_bound(gains).tolist() == [0.0, 2.5, 10.0, 1e100]
    assert not laws.integral_bound(gains).flags.writeable


def test_an_integral_grows_unless_that_pushes_further() -> None:
    """Joint by joint: at the limit outward and inward, at rest there, just below, free."""
    e = np.array([0.5, -0.5, 0.5, 0.5, -0.25, 1e-3])
    torque = np.array([8.0, 8.0, -8.0, 7.5, -8.0, 9.0])
    effort, bound = np.full(6, 8.0), np.full(6, 3.0)
    start = np.array([1.0, 1.0, 1.0, 1.0, -1.0, 1.0])
    found = laws.integrate(start, e, 0.5, bound, torque, effort)
    assert found.tolist() == [1.0, 0.75, 1.25, 1.25, -1.0, 1.0]
    far = laws.integrate(start, e, 100.0, bound, 0.0 * torque, np.full(6, INF))
    assert far.tolist() == [3.0, -3.0, 3.0, 3.0, -3.0, 1.1]


def test_the_measured_states_of_a_motor_law_move_the_integral_too() -> None:
    """Within the loop: the memory is the error's integral."""
    model = ARMS["low ratio"]
    gains = control.Gains(2.0, 1.0, 3.0, kind="torque")
    made = control.controller(model, "pd_plus_feedforward", gains=gains)
    n = model.n
    e, none = np.linspace(0.1, 0.2, n), np.zeros(n)
    memory = control.Memory(np.full(n, 0.5))
    memory, _ = made.step(memory, gd.State(-e, none), control.Reference(none, none, none), 0.25)
    np.testing.assert_allclose(memory.integral, 0.5 + 0.25 * e, rtol=1e-12)


# -- limits --------------------------------------------------------------------------------------

CHAIN = (
    '<link name="l{0}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"'
    ' iyz="0"/></inertial></link><joint name="j{0}" type="continuous"><parent link="l{1}"/>'
    '<child link="l{0}"/><origin xyz="{2} 0 0"/><axis xyz="0 1 0"/>{3}</joint>'
)


def chain(*limits: str, reach: float = 0.0, drives: Any = None) -> gd.GearedModel:
    parts = [CHAIN.format(k + 1, k, reach, limit) for k, limit in enumerate(limits)]
    return gd.load_model(f'<robot name="r"><link name="l0"/>{"".join(parts)}</robot>', drives)


def test_motors_together_turn_a_joint_as_hard_as_each_may() -> None:
    """Ratios below one count too; a motor without a limit lifts that of the joints it turns."""
    wheel = {"carrier": "l0", "axis": [0, 1, 0], "mass": 0.1, "inertia": {"axial": 1e-4}}
    spins = ({"j1": 0.5, "j2": 0.25}, {"j1": -2.0}, {"j3": 3.0})
    drives: dict[str, Any] = {
        "version": 1,
        "wheels": {f"w{k}": dict(wheel) for k in range(3)},
        "spins": [{"wheel": f"w{k}", "coefficients": c} for k, c in enumerate(spins)],
        "motors": {f"m{k}": {"wheel": f"w{k}", "limits": {"torque": 4.0}} for k in range(3)},
    }
    model = chain("", '<limit effort="0.75" velocity="0"/>', "", reach=0.5, drives=drives)
    found = outputs.command_limits(model, "joint_torque")
    assert found.tolist() == [0.5 * 4.0 + 2.0 * 4.0, 0.75, 12.0]
    del drives["motors"]["m1"]["limits"]
    model = chain("", '<limit effort="5" velocity="0"/>', "", reach=0.5, drives=drives)
    assert outputs.command_limits(model, "joint_torque").tolist() == [INF, 1.0, 12.0]
    assert outputs.command_limits(model, "motor_torque").tolist() == [4.0, INF, 4.0]
    bare = chain('<limit effort="5" velocity="1"/>', '<limit effort="0" velocity="1"/>', "")
    assert outputs.command_limits(bare, "joint_torque").tolist() == [5.0, INF, INF]


def test_currents_and_torques_of_motors_whose_constant_is_not_known() -> None:
    constants = dict.fromkeys(("torque_constant", "resistance", "inductance"))
    model = driven_arm(2, **constants, limits={"torque": 0.6})
    assert outputs.command_limits(model, "motor_torque").tolist() == [0.6] * 4
    assert outputs.command_limits(model, "motor_current").tolist() == [INF] * 4
    known = driven_arm(2, limits={"current": 5.0, "torque": 0.6, "voltage": 9.0})  # k_t 0.06
    np.testing.assert_allclose(outputs.command_limits(known, "motor_torque"), 0.3)
    np.testing.assert_allclose(outputs.command_limits(known, "motor_current"), 5.0)
    np.testing.assert_allclose(outputs.command_limits(known, "motor_voltage"), 9.0)


def test_loads_of_a_joint_that_turns_endlessly() -> None:
    """In every posture of a turn; at the link's origin unless said otherwise."""
    model = chain('<limit effort="20" velocity="1"/>', "", reach=0.5)
    assert outputs.holdable_mass(model, link="l2") == outputs.holdable_mass(model, (0, 0, 0), "l2")
    found = outputs.holdable_mass(model, link="l2")
    assert found == pytest.approx(20.0 / (9.81 * 0.5), rel=2e-3)
    assert outputs.holdable_mass(chain("", reach=0.5), (0.5, 0, 0)) == INF
    assert outputs.extent(model) == 2.0


# -- sides ---------------------------------------------------------------------------------------


def test_voltages_are_clipped_with_the_measured_back_emf() -> None:
    """What saturates knows the planned speed only; ``none`` clips nothing."""
    model = driven_arm(2, limits={"voltage": 30.0, "current": 29.0})
    q, v, a = sample(model)
    state, still = gd.State(q, 20.0 * v), control.Reference(q, 0.0 * v, 0.0 * a)
    light = control.Terms(use_gravity_compensation=False, use_friction=False)
    clipped, free = (
        control.controller(model, terms=light, command_type="motor_voltage", saturation=way)
        for way in ("each", "none")
    )
    for reference in (still, still._replace(jerk=np.ones(model.n))):
        wanted = free.step(free.start(), state, reference, 0.0)[1].command
        found = clipped.step(clipped.start(), state, reference, 0.0)[1]
        assert not found.exceeded.any()
        assert (np.abs(wanted) > 30.0).any()
        np.testing.assert_allclose(found.command, np.clip(wanted, -30.0, 30.0), rtol=1e-12)


def test_what_brakes_is_not_made_to_fit() -> None:
    """The safety step has its own limits; which it cuts, it has to know."""
    model = driven_arm(2, limits={"voltage": 5.0, "torque": 0.05})
    q, v, _ = sample(model)
    for side in ("motor_torque", "motor_voltage"):
        made = control.controller(model, command_type=side)
        found = made.decelerate(q, v, -30.0 * v, v)
        exact = gd.motor_commands(model, q, v, -30.0 * v)
        np.testing.assert_allclose(found, getattr(exact, side[6:]), rtol=1e-6)
        assert exact.exceeded


def test_nothing_exceeded_is_nobodys_to_change() -> None:
    made = control.controller(ARMS["low ratio"])
    still = np.zeros(made.model.n)
    _, out = made.step(made.start(), None, control.Reference(still, still, still), 0.0)
    assert out.exceeded.shape == (0,)
    assert not out.exceeded.flags.writeable
    assert control.limit_names(made.model, out.exceeded) == {}
    assert out.exceeded is outputs.NOTHING


# -- what is prepared ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("law", ["feedforward", "computed_torque", "pd_plus_feedforward"])
def test_which_laws_are_compiled(name: str, law: str) -> None:
    """Of arms without balancers, all terms but friction on; a jerk is left to Python to check."""
    model = ARMS[name]
    gains = None if law == "feedforward" else GAINS
    made = control.controller(model, law, gains=gains)
    assert (made.compiled is not None) == (name != "balanced")
    off = control.controller(model, law, gains=gains, terms=control.Terms(use_friction=False))
    assert (off.compiled is not None) == (name != "balanced")
    for switch in control.Terms.__dataclass_fields__:
        if switch != "use_friction":
            less = control.Terms(**{switch: False})
            assert control.controller(model, law, gains=gains, terms=less).compiled is None
    if made.compiled is None:
        return
    q, v, a = sample(model)
    state, reference = gd.State(q, v), control.Reference(q, v, a)
    with pytest.raises(ArrayError, match=r"reference\.jerk"):
        made.step(made.start(), state, reference._replace(jerk=math.nan * v), 0.0)


def test_a_compiled_law_asks_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a cycle with a state and a reference, nothing in Python checks or counts."""
    model = ARMS["low ratio"]
    made = control.controller(model, "computed_torque", gains=GAINS)
    q, v, a = sample(model)
    given = (made.start(), gd.State(q, v), control.Reference(q, v, a), 0.0)
    wanted = made.plain_step(*given)[1].command

    def never(*_: object) -> None:
        raise AssertionError("Python was asked")

    monkeypatch.setattr(control.RigidController, "plain_step", never)
    memory, found = made.step(*given)
    assert memory is given[0]
    np.testing.assert_allclose(found.command, wanted, rtol=1e-12)


def test_every_path_of_a_cycle_has_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """With and without a jerk, with and without a state; nothing is compiled in the first one."""
    from simulated_arms import arm

    ran: list[Any] = []
    for kind in (control.RigidController, control.ElasticController):
        for name in (*CALLS, "open_loop"):
            real = getattr(kind, name)
            real = getattr(real, "real", real)

            def noted(self: Any, *given: Any, name: str = name, real: Any = real) -> Any:
                ran.append((name, *(g is None or getattr(g, "jerk", g) is None for g in given)))
                return real(self, *given)

            noted.real = real  # type: ignore[attr-defined]
            monkeypatch.setattr(kind, name, noted)
    control.controller(ARMS["low ratio"])
    steps = {("step", False, False, False, False), ("step", False, False, True, False)}
    holds = {("hold", *[False] * 3), ("hold", False)}
    rest = {("open_loop", *[False] * 3), ("decelerate", *[False] * 4)}
    assert set(ran) == steps | holds | rest
    ran.clear()
    control.elastic_controller(arm(), "flatness")
    assert set(ran) == {("step", False, False, True, False)} | holds | rest
