"""A model built beside the loop, for a description that changes while the arm is held."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Builder(Generic[T]):
    """Runs one function at a time in a thread; its result is asked for, never pushed."""

    def __init__(self) -> None:
        """Begin idle."""
        self._thread: threading.Thread | None = None
        self._result: T | None = None
        self._error: Exception | None = None
        self._next: Callable[[], T] | None = None

    @property
    def busy(self) -> bool:
        """Whether something is built, or built and not yet taken."""
        return self._thread is not None

    def start(self, build: Callable[[], T]) -> None:
        """Build; if something is being built, afterwards."""
        if self._thread is not None:
            self._next = build
            return
        self._thread = threading.Thread(target=self._run, args=(build,), daemon=True)
        self._thread.start()

    def _run(self, build: Callable[[], T]) -> None:
        try:
            self._result = build()
        except Exception as error:  # told by ``taken``
            self._error = error

    def taken(self) -> T | None:
        """The result, once; None while there is none.

        Raises:
            Exception: what the function raised.
        """
        if self._thread is None or self._thread.is_alive():
            return None
        result, error, following = self._result, self._error, self._next
        self._thread = self._result = self._error = self._next = None
        if following is not None:  # what was built is out of date
            self.start(following)
            return None
        if error is not None:
            raise error
        return result
