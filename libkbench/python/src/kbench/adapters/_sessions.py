"""Episodes that several requests belong to."""

from __future__ import annotations

import threading
from collections import OrderedDict
from contextlib import contextmanager
from typing import Generic, Iterator, Optional, TypeVar

from ._server import Refused

MOST_SESSIONS = 4096

S = TypeVar("S")


class Sessions(Generic[S]):
    """Sessions by name; beyond MOST_SESSIONS the one that was used longest ago is forgotten."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: OrderedDict[str, tuple[threading.Lock, S]] = OrderedDict()

    def put(self, name: str, session: S) -> None:
        with self._lock:
            self._sessions[name] = (threading.Lock(), session)
            self._sessions.move_to_end(name)
            if len(self._sessions) > MOST_SESSIONS:
                self._sessions.popitem(last=False)

    def drop(self, name: Optional[str]) -> None:
        with self._lock:
            if name is not None:
                self._sessions.pop(name, None)

    @contextmanager
    def used(self, name: Optional[str]) -> Iterator[S]:
        """For one request at a time."""
        with self._lock:
            found = self._sessions.get(name) if name is not None else None
            if found is None or name is None:
                raise Refused(409, "there is no such episode: it was not reset, or is over")
            self._sessions.move_to_end(name)
        lock, session = found
        if not lock.acquire(blocking=False):
            raise Refused(409, "the episode is at another step")
        try:
            yield session
        finally:
            lock.release()

    def __len__(self) -> int:
        return len(self._sessions)
