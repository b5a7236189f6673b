"""Complete dynamics of geared robot arms, from a URDF and a description of the drives.

The names of ``geared_dynamics.api`` are loaded when the first of them is asked for: a command that
only prints its version, or a module that needs one room, does not wait for all of them.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from geared_dynamics.api import *  # noqa: F403

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Load a room or the public names; called by Python for one that is not here yet."""
    public = name == "__all__" or not name.startswith("_")
    if public and find_spec(f"{__name__}.{name}"):
        return import_module(f"{__name__}.{name}")
    if public:
        api = import_module(f"{__name__}.api")
        if name == "__all__" or name in (*api.__all__, *api.FORMER):
            return globals().setdefault(name, getattr(api, name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names, for completion in a terminal."""
    return [*globals(), *import_module(f"{__name__}.api").__all__]
