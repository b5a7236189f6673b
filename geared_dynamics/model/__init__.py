"""The immutable model, and how it is built from records."""

from geared_dynamics.model.build import build_model
from geared_dynamics.model.facts import Frame, Tree, Wheels
from geared_dynamics.model.model import Coupling, GearedModel, require_model

__all__ = ["Coupling", "Frame", "GearedModel", "Tree", "Wheels", "build_model", "require_model"]
