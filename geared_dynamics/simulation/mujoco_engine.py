"""The arm as MuJoCo moves it: x = (q, theta) in and out, torques of the motors in between."""

from __future__ import annotations

import numpy as np

from geared_dynamics.arrays import Array
from geared_dynamics.dynamics.friction_and_balancers import balancer_forces
from geared_dynamics.model import GearedModel
from geared_dynamics.simulation.mujoco_bodies import (
    Blueprint,
    blueprint,
    compiled,
    friction_joints,
    wheel_joint,
)
from geared_dynamics.simulation.mujoco_parts import mujoco


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
        drawn: bool = False,
        stops: bool = False,
    ) -> None:
        """Build the bodies; see ``blueprint``."""
        self.model, self._timestep = model, timestep
        self.plan = plan = blueprint(model, timestep, friction=friction, drawn=drawn, stops=stops)
        self.mj = compiled(plan)
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
    def x(self) -> Array:
        """Position (q, theta), theta from the wheels' angles."""
        return self._coordinates(self.data.qpos[self._q], self.data.qpos[self._phi])

    @property
    def rate(self) -> Array:
        """Velocity (v, vtheta)."""
        return self._coordinates(self.data.qvel[self._v], self.data.qvel[self._spin])

    def _coordinates(self, joints: Array, wheels: Array) -> Array:
        """Join those of the joints with those of the shafts behind springs."""
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
        """Force (n + w,) of the dampers in springs with play, where the play is used up."""
        elastic, data = self.model.elasticity, self.data
        rows = self.plan.gears.stretch
        z = rows @ np.concatenate([data.qpos[self._q], data.qpos[self._phi]]) - elastic.rest
        engaged = (np.abs(z) > elastic.gap) & (elastic.gap > 0.0)
        return np.asarray(rows.T @ (engaged * elastic.damping * (rows @ data.qvel[self._both])))
