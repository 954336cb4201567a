"""A call of the library's that takes long, made so that its caller can be interrupted."""

from __future__ import annotations

import _thread
import queue
import threading
import weakref
from typing import Any, Callable, Optional

from ._library import library

_local = threading.local()


def tell(_user: Any, text: bytes) -> int:
    """What the library calls with an event, in the thread that it was called in."""
    call: Call = _local.call
    return call._pass_on(text)


class Call:
    """One call, made in a thread of its own.

    The thread that asks for it waits in Python, where Ctrl-C is heard, and runs the callbacks.
    """

    def __init__(
        self, make: Callable[[int], Any], on_event: Optional[Callable[[bytes], None]] = None
    ) -> None:
        """`make` is given the handle of a stop, `on_event` the text of each event."""
        loaded = library()
        self._make = make
        self._on_event = on_event
        self._stop = loaded.new_stop()
        finalizer = weakref.finalize(self, loaded.free_stop, self._stop)
        finalizer.atexit = False  # A thread may still be at it; the process's end frees all.
        self._events: queue.SimpleQueue[Optional[bytes]] = queue.SimpleQueue()  # None: it is over
        self._replies: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._answer: Any = None
        self._error: Optional[BaseException] = None

    def cancel(self) -> None:
        library().request_stop(self._stop)

    def run(self) -> Any:
        """What `make` returns. What it raises is raised, and what interrupts the wait for it, be it
        a signal or a callback: the call is cancelled then, and has ended."""
        interrupted: Optional[BaseException] = None
        try:
            _thread.start_new_thread(self._work, ())
        except RuntimeError:  # There is no thread to be had.
            raise
        except BaseException as error:  # A signal, once the thread had been started.
            interrupted = error
        while True:
            try:
                if interrupted is not None:
                    self.cancel()
                    self._replies.put(1)  # to an event that waits for one, or the next
                self._listen(silent=interrupted is not None)
                break
            except BaseException as error:
                interrupted = interrupted or error
        failure = interrupted or self._error
        if failure is not None:
            raise failure
        return self._answer

    def _listen(self, silent: bool) -> None:
        """Until the call is over."""
        while (text := self._events.get()) is not None:
            if not silent and self._on_event is not None:
                self._on_event(text)
            self._replies.put(1 if silent else 0)

    def _work(self) -> None:
        _local.call = self
        try:
            self._answer = self._make(self._stop)
        except BaseException as error:
            self._error = error
        self._events.put(None)

    def _pass_on(self, text: bytes) -> int:
        self._events.put(text)
        return self._replies.get()
