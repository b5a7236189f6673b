"""The immutable model, and how it is built from records."""

from geared_dynamics.model.build import build_model
from geared_dynamics.model.model import Coupling, Frame, GearedModel, Tree, Wheels, require_model

__all__ = ["Coupling", "Frame", "GearedModel", "Tree", "Wheels", "build_model", "require_model"]
