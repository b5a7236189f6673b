"""Elastic arms whose motors' motion does not follow from that of the links."""

from __future__ import annotations

import numpy as np

from geared_dynamics.dynamics.elastic.springs import structure_matrix
from geared_dynamics.errors import ModelError
from geared_dynamics.model import GearedModel


def refuse_unfit(model: GearedModel) -> None:
    """Raise for shafts without a joint, passive joints, backlash, motors beside their spring."""
    elastic, source = model.elasticity, model.drivetrain.source
    if elastic.shaft_spin.shape[1] != elastic.joint.size:
        finding = "there are shafts between springs, and feedforward knows one spring per joint"
        remedy = "put each drive's compliance into its joint's stiffness"
        raise ModelError(f"{source}, springs", finding, remedy)
    for j in elastic.passive:
        name = model.joint_names[j]
        finding = f"joint {name!r} is passive: its motion cannot be prescribed"
        remedy = "take the feedforward of an arm without it (load_model's lock)"
        raise ModelError(f"{source}, joints.{name}.passive", finding, remedy)
    for k, gap in enumerate(elastic.gap):
        if gap > 0.0:
            d = int(np.flatnonzero(elastic.stretch[k, : model.n])[0])
            name = model.joint_names[d]
            finding = f"joint {name!r} has backlash: its motor would have to jump through it"
            raise ModelError(f"{source}, joints.{name}.backlash", finding, "take out the backlash")
    A = structure_matrix(model)
    for j in elastic.joint:
        for motor, ratio in zip(model.motor_names, A[j], strict=True):
            if ratio != 0.0:
                finding = f"it turns with the link of the elastic joint {model.joint_names[j]!r}"
                remedy = "let its wheel be on the motor side (side: motor)"
                raise ModelError(f"{source}, motors.{motor}", finding, remedy)


def refuse_damping(model: GearedModel, method: str) -> None:
    """Raise where a spring is damped: the shaft then solves a differential equation."""
    elastic = model.elasticity
    damped = np.any(elastic.stretch[elastic.damping > 0.0] != 0.0, axis=0)
    names = [
        name for name, is_so in zip(model.joint_names, damped[: model.n], strict=True) if is_so
    ]
    if names:
        finding = (
            f"the springs of {', '.join(names)} are damped, so that the shafts' motion solves a "
            f"differential equation and method {method!r} does not hold"
        )
        remedy = "take method='expanded', or joints.<name>.damping: 0"
        raise ModelError(f"{model.drivetrain.source}, joints.{names[0]}.damping", finding, remedy)
