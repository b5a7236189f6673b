"""The arm as MuJoCo moves it: x = (q, theta) in and out, torques of the motors in between."""

from __future__ import annotations

from typing import Any

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.contact.packing import prepare
from geared_dynamics.dynamics.drives import balancer_forces
from geared_dynamics.model import GearedModel
from geared_dynamics.simulation.mujoco_bodies import (
    Blueprint,
    blueprint,
    body_name,
    compiled,
    friction_joints,
    quaternion,
    wheel_joint,
    z_to,
)
from geared_dynamics.simulation.mujoco_parts import mujoco
from geared_dynamics.simulation.wall import Wall

WALL, PROBE = "wall", "tool at the wall"  # geoms
PROBE_SIZE = 1e-4  # [m]
SOFT = 1e-3  # impedance of the wall's contact: its stiffness and damping are then the wall's
STICKING = 1e6  # by how much less R is along the wall: what sticks creeps by micrometres a second


class MujocoMechanism:
    """Links, rotors and wheels as MuJoCo's bodies.

    Attributes:
        model: Geared model.
    """

    def __init__(
        self,
        model: GearedModel,
        timestep: float,
        *,
        friction: bool = True,
        stops: bool = False,
        wall: Wall | None = None,
    ) -> None:
        """Build the bodies; see ``blueprint``."""
        self.model, self._timestep = model, timestep
        self.plan = plan = blueprint(model, timestep, friction=friction, stops=stops)
        self._walled = wall is not None
        if wall is not None:
            add_wall(plan.spec, model, wall)
        self.mj = compiled(plan)
        if wall is not None:
            set_contact(self.mj, wall)
        self.mj.actuator_ctrllimited[:] = False  # what a motor can give is not decided here
        self.data = mujoco().MjData(self.mj)
        self._lay_out(plan)
        self._step = mujoco().mj_step

    @property
    def timestep(self) -> float:
        """Of one step [s]; the ties stay as stiff as the longest step allows."""
        return self._timestep

    @timestep.setter
    def timestep(self, value: float) -> None:
        self._timestep = self.mj.opt.timestep = value

    def _lay_out(self, plan: Blueprint) -> None:
        """Find joints, wheels and friction among MuJoCo's coordinates."""
        address = {self.mj.joint(j).name: j for j in range(self.mj.njnt)}
        joints = [address[name] for name in self.model.joint_names]
        hinges = [address[wheel_joint(wheel)] for wheel in plan.wheels]
        place, rate = self.mj.jnt_qposadr, self.mj.jnt_dofadr
        self._q, self._v = place[joints], rate[joints]
        self._phi, self._spin = place[hinges], rate[hinges]
        tree = self.model.tree
        self._body = place[[address[name] for name in plan.joints]]
        self._body_rate = rate[[address[name] for name in plan.joints]]
        self._follow_x = np.zeros((len(tree.names), self.model.n))
        self._follow_x[np.arange(len(tree.names)), tree.dof] = tree.multiplier
        motors = self.model.motor_wheel  # on links; the model refuses others
        self._motor, self._driven = self._phi[motors], self._spin[motors]
        self._rubbing = rate[[address[name] for name in friction_joints(plan)]].astype(int)
        self._viscous = np.zeros(self.mj.nv)
        np.add.at(self._viscous, self._rubbing, plan.friction.laws.viscous)
        self._both = np.concatenate([self._v, self._spin])
        self._played = bool(np.any(self.model.elasticity.gap > 0.0))
        self._balanced = bool(self.model.balancers.names)
        limited = [plan.joints[body] for body, _, _ in plan.stops]
        self._stopped = np.array([address[name] for name in limited], int)
        self._bounds = np.reshape([bounds for _, *bounds in plan.stops], (-1, 2))
        self._applied = bool(plan.friction.count) or self._balanced or self._played

    def place(self, x: Array, rate: Array) -> None:
        """Put the arm at x = (q, theta) with a velocity (n + n_e,)."""
        mujoco().mj_resetData(self.mj, self.data)
        n, tree = self.model.n, self.model.tree
        self.data.qpos[self._body] = self._follow_x @ x[:n] + tree.offset
        self.data.qvel[self._body_rate] = self._follow_x @ rate[:n]
        at = self.data.qpos[self.mj.jnt_qposadr[self._stopped]]
        # A joint that starts beyond a limit has its stop there.
        self.mj.jnt_range[self._stopped, 0] = np.minimum(self._bounds[:, 0], at)
        self.mj.jnt_range[self._stopped, 1] = np.maximum(self._bounds[:, 1], at)
        self.data.qpos[self._phi] = self.plan.gears.follow @ x
        self.data.qvel[self._spin] = self.plan.gears.follow @ rate

    @property
    def touch(self) -> Array:
        """Force of the wall on the tool (3,) [N], root axes."""
        found, part = np.zeros(3), np.zeros(6)
        for k in range(self.data.ncon if self._walled else 0):
            mujoco().mj_contactForce(self.mj, self.data, k, part)
            found += part[:3] @ self.data.contact[k].frame.reshape(3, 3)
        return found

    def show_wall(self, present: bool) -> None:
        """Take the wall away, or put it back."""
        if self._walled:
            bit = int(mujoco().mjtDisableBit.mjDSBL_CONTACT)
            flags = int(self.mj.opt.disableflags)
            self.mj.opt.disableflags = flags & ~bit if present else flags | bit

    @property
    def x(self) -> Array:
        """Position (q, theta), theta from the wheels' angles."""
        return self._coordinates(self.data.qpos[self._q], self.data.qpos[self._phi])

    @property
    def rate(self) -> Array:
        """Velocity (v, vtheta)."""
        return self._coordinates(self.data.qvel[self._v], self.data.qvel[self._spin])

    def _coordinates(self, joints: Array, wheels: Array) -> Array:
        """Join those of the joints with those of the motor side of springs."""
        if not self.model.elasticity.count:
            return np.asarray(joints)
        shafts = self.plan.gears.shafts @ np.concatenate([joints, wheels])
        return np.concatenate([joints, shafts])

    @property
    def angle(self) -> Array:
        """Angles of the motors' rotors relative to their links (m,) [rad], 0 at q = 0."""
        return np.asarray(self.data.qpos[self._motor])

    @property
    def speed(self) -> Array:
        """Their speeds (m,) [rad/s]."""
        return np.asarray(self.data.qvel[self._driven])

    def advance(self, drive: Array, drag: Array) -> None:
        """Move on by one step under the motors' torques drive - drag * speed.

        Args:
            drive: (m,) [N m].
            drag: (m,) [N m s/rad].
        """
        mj, data = self.mj, self.data
        mj.dof_damping[:] = self._viscous
        np.add.at(mj.dof_damping, self._driven, drag)
        data.ctrl[:] = drive
        if self._applied:
            data.qfrc_applied[:] = 0.0
            self._apply()
        self._step(mj, data)

    def _apply(self) -> None:
        """Set what MuJoCo's own joints and tendons cannot say, for one step."""
        mj, data, friction = self.mj, self.data, self.plan.friction
        if friction.count:
            level, constant = friction.levels(
                friction.positions(data.qpos[self._q], self.angle + self.model.motor_zeros),
                friction.of(data.qvel[self._v], self.speed),
            )
            mj.dof_frictionloss[self._rubbing] = 0.0
            np.add.at(mj.dof_frictionloss, self._rubbing, level)
            np.add.at(data.qfrc_applied, self._rubbing, -constant)
        if self._balanced:
            data.qfrc_applied[self._v] += balancer_forces(self.model, data.qpos[self._q])
        if self._played:
            data.qfrc_applied[self._both] -= self._damping_with_play()

    def _damping_with_play(self) -> Array:
        """Force (n + w,) of the dampers in springs with play, where the play is used up.

        A stop only pushes: at most the damper takes all of the spring's force.
        """
        elastic, data = self.model.elasticity, self.data
        rows = self.plan.gears.stretch
        z = rows @ np.concatenate([data.qpos[self._q], data.qpos[self._phi]]) - elastic.rest
        spring = elastic.stiffness * (z - np.clip(z, -elastic.gap, elastic.gap))
        pull = elastic.damping * (rows @ data.qvel[self._both])
        pull = np.where(spring > 0.0, np.maximum(pull, -spring), np.minimum(pull, -spring))
        return np.asarray(rows.T @ np.where((spring != 0.0) & (elastic.gap > 0.0), pull, 0.0))


def add_wall(spec: Any, model: GearedModel, wall: Wall) -> None:
    """Let a point of the tool, a sphere without size, touch a plane; see ``set_contact``."""
    prepare(model, wall.surface)  # refuses a frame that there is not, or a wheel
    package, option = mujoco(), spec.option
    surface: Any = wall.surface  # whose numbers are arrays
    option.disableflags &= ~int(package.mjtDisableBit.mjDSBL_CONTACT)
    option.cone, option.impratio = package.mjtCone.mjCONE_ELLIPTIC, STICKING
    kind, tool = package.mjtGeom, spec.body(body_name(model, surface.frame))
    hidden = {"contype": 0, "conaffinity": 0, "mass": 0.0}  # they meet as a pair only
    place, turned = surface.point - PROBE_SIZE * surface.e3, quaternion(z_to(surface.e3))
    spec.worldbody.add_geom(
        name=WALL,
        type=kind.mjGEOM_PLANE,
        pos=place,
        quat=turned,
        size=[0.5, 0.5, 0.01],
        rgba=[0.6, 0.6, 0.6, 0.5],
        **hidden,
    )
    size = [PROBE_SIZE, 0.0, 0.0]
    tool.add_geom(name=PROBE, type=kind.mjGEOM_SPHERE, size=size, **hidden)
    pair = spec.add_pair(name=WALL, geomname1=WALL, geomname2=PROBE)
    pair.condim = 3 if wall.friction else 1
    pair.friction = [wall.friction, wall.friction, 0.0, 0.0, 0.0]


def set_contact(mj: Any, wall: Wall) -> None:
    """Give the compiled contact its stiffness and damping.

    MuJoCo's contact force is (a_ref - a) / R with R = (1 - d) / d times the body's inverse
    weight: with a small impedance d it is -k s - b s', k and b per R, plus a small mass 1 / R.
    Along the wall R is smaller by ``STICKING``: what sticks comes to rest within a few steps.
    """
    body = int(mj.geom(PROBE).bodyid[0])
    scale = (1.0 - SOFT) * float(mj.body_invweight0[body, 0])
    mj.pair_solref[0] = [-wall.stiffness * scale, -wall.damping * scale]
    mj.pair_solreffriction[0] = [-1.0, -SOFT / (2.0 * mj.opt.timestep)]
    mj.pair_solimp[0] = [SOFT, SOFT, 1e-3, 0.5, 2.0]
