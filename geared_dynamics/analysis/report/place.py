"""Files and folders that appear at their place when they are whole, and not before."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from types import TracebackType

from geared_dynamics.analysis.reading.problems import RecordingError


class NewPlace:
    """A file or folder that is written beside its place and moved there at the end.

    What is written in a context that ends by an error is removed, so that a run that fails
    leaves nothing behind that the next one would trip over.
    """

    def __init__(self, path: Path) -> None:
        """Make the folders; ``draft`` is where to write."""
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self.folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
        self.draft = self.folder / path.name  # a bag's files bear its folder's name

    def __enter__(self) -> Path:
        """Return where to write."""
        return self.draft

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Move what was written to its place, or remove it after an error."""
        try:
            if kind is None:
                self.draft.replace(self.path)
        finally:
            shutil.rmtree(self.folder)


def refuse_existing(path: Path) -> None:
    """Raise if there is something where a bag is to be made.

    Raises:
        RecordingError: If so.
    """
    if path.exists():
        raise RecordingError(str(path), "is there already", "name a folder that is not")
