"""The shared library: found, loaded, and called with JSON."""

from __future__ import annotations

import ctypes
import ctypes.util
import json
import os
import shutil
import threading
from pathlib import Path
from typing import Any, Callable, Optional

from ._version import __version__
from .errors import NotFoundError, UnsupportedError, error_of

OnEvent = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)

# The name of a call -> the types of what stands before its answer.
_HANDLE = ctypes.c_void_p
_TEXT = ctypes.c_char_p
_ANSWER = ctypes.POINTER(ctypes.c_void_p)
_CALLS: dict[str, list[Any]] = {
    "kbench_evaluator_new": [_TEXT, OnEvent, _HANDLE, ctypes.POINTER(_HANDLE)],
    "kbench_evaluator_evaluate": [_HANDLE, _TEXT, _HANDLE],
    "kbench_evaluator_check": [_HANDLE, _TEXT, _HANDLE],
    "kbench_evaluate": [_TEXT, _HANDLE],
    "kbench_check": [_TEXT, _HANDLE],
    "kbench_candidate_files": [_TEXT],
    "kbench_devices": [_TEXT],
    "kbench_question_schema": [_TEXT],
    "kbench_tasks": [_TEXT],
    "kbench_show": [_TEXT],
    "kbench_verdicts": [_TEXT],
    "kbench_leaderboard": [_TEXT],
    "kbench_prompt": [_TEXT],
    "kbench_extract": [_TEXT],
    "kbench_feedback": [_TEXT],
    "kbench_episode_new": [_TEXT, ctypes.POINTER(_HANDLE)],
    "kbench_episode_step": [_HANDLE, _TEXT],
}
_SONAME = "libkbench.so.1"
# What a wheel for one platform brings: an installation of its own.
BUNDLED = Path(__file__).parent / "_bundled"


def _candidates() -> list[str]:
    """Where the library may be, first choice first."""
    chosen = os.environ.get("KBENCH_LIBRARY")
    if chosen:
        return [chosen]
    bundled = BUNDLED / "lib" / _SONAME
    if bundled.exists():
        return [str(bundled)]
    names = [_SONAME]
    found = ctypes.util.find_library("kbench")
    if found and found != _SONAME:
        names.append(found)
    program = os.environ.get("KBENCH_PROGRAM") or shutil.which("kbench")
    if program:
        prefix = Path(program).resolve().parent.parent
        names += [str(path) for path in sorted(prefix.glob(f"lib*/{_SONAME}"))]
        names += [str(path) for path in sorted(prefix.glob(f"lib/*/{_SONAME}"))]
    return names


class Library:
    """The loaded library."""

    def __init__(self) -> None:
        problems = []
        for name in _candidates():
            try:
                self._handle = ctypes.CDLL(name)
                break
            except OSError as problem:
                problems.append(str(problem))
        else:
            raise NotFoundError(
                "libkbench.so cannot be loaded; install kbench (cmake --install), or name the "
                "library in KBENCH_LIBRARY: " + "; ".join(problems)
            )
        for call, before in _CALLS.items():
            try:
                function = getattr(self._handle, call)
            except AttributeError:
                raise UnsupportedError(f"{self._handle._name} lacks {call}()") from None
            function.argtypes = [*before, _ANSWER]
            function.restype = ctypes.c_int
        self._handle.kbench_free.argtypes = [ctypes.c_void_p]
        self._handle.kbench_free.restype = None
        self._handle.kbench_status_name.argtypes = [ctypes.c_int]
        self._handle.kbench_status_name.restype = ctypes.c_char_p
        self._handle.kbench_version.argtypes = []
        self._handle.kbench_version.restype = ctypes.c_char_p
        if self.version().split(".")[:2] != __version__.split(".")[:2]:
            raise UnsupportedError(
                f"kbench {__version__} for Python needs a library of its version; "
                f"{self._handle._name} is {self.version()}"
            )
        self._handle.kbench_stop_new.argtypes = []
        self._handle.kbench_stop_new.restype = _HANDLE
        for name in (
            "kbench_stop_request",
            "kbench_stop_free",
            "kbench_evaluator_free",
            "kbench_episode_free",
        ):
            getattr(self._handle, name).argtypes = [_HANDLE]
            getattr(self._handle, name).restype = None

    def version(self) -> str:
        text: bytes = self._handle.kbench_version()
        return text.decode()

    def call(self, name: str, *arguments: Any) -> Any:
        """The answer's JSON; raises an Error."""
        out = ctypes.c_void_p()
        status = getattr(self._handle, name)(*arguments, ctypes.byref(out))
        try:
            text = ctypes.string_at(out.value).decode() if out.value else "{}"
        finally:
            self._handle.kbench_free(out)
        answer = json.loads(text)
        if status == 0:
            return answer
        code = self._handle.kbench_status_name(status).decode()
        raise error_of(
            code,
            answer.get("message", code),
            answer.get("file", ""),
            answer.get("line", 0),
            answer.get("column", 0),
        )

    def ask(self, name: str, request: dict[str, Any]) -> Any:
        """The same for the calls that take a request and nothing else."""
        return self.call(name, encoded(request))

    def new_stop(self) -> int:
        stop = self._handle.kbench_stop_new()
        if stop is None:
            raise MemoryError
        return int(stop)

    def request_stop(self, stop: int) -> None:
        self._handle.kbench_stop_request(stop)

    def free_stop(self, stop: int) -> None:
        self._handle.kbench_stop_free(stop)

    def new_evaluator(
        self, options: dict[str, Any], on_event: Callable[[Any, bytes], int]
    ) -> tuple[int, Any]:
        """A handle, and what has to live as long as it does."""
        callback = OnEvent(on_event)
        handle = ctypes.c_void_p()
        self.call(
            "kbench_evaluator_new", encoded(options), callback, None, ctypes.byref(handle)
        )
        assert handle.value is not None
        return handle.value, callback

    def free_evaluator(self, evaluator: int) -> None:
        self._handle.kbench_evaluator_free(evaluator)

    def new_episode(self, request: dict[str, Any]) -> tuple[int, Any]:
        """A handle, and what the model is to be asked first."""
        handle = ctypes.c_void_p()
        answer = self.call("kbench_episode_new", encoded(request), ctypes.byref(handle))
        assert handle.value is not None
        return handle.value, answer

    def free_episode(self, episode: int) -> None:
        self._handle.kbench_episode_free(episode)

    def program(self) -> Optional[str]:
        """The kbench program of the library's own installation; None where it cannot be told."""
        if os.environ.get("KBENCH_PROGRAM"):
            return None  # which the library sees by itself
        path = _path_of(self._handle._name)
        for folder in path.resolve().parents[:3] if path else ():
            program = folder / "bin" / "kbench"
            if os.access(program, os.X_OK):
                return str(program)
        return None


def _path_of(name: str) -> Optional[Path]:
    """Where a library that has been loaded lies."""
    if "/" in name:
        return Path(name)
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        for line in maps:
            path = line.rstrip("\n").split(maxsplit=5)[5:]
            if path and Path(path[0]).name.startswith("libkbench.so"):
                return Path(path[0])
    return None


def encoded(request: dict[str, Any]) -> bytes:
    # allow_nan: JSON has no infinity, and kbench would refuse what Python writes for it.
    return json.dumps(request, allow_nan=False).encode()


_loaded: Optional[Library] = None
_loading = threading.Lock()


def library() -> Library:
    """Loads it when it is first needed."""
    global _loaded
    with _loading:
        if _loaded is None:
            _loaded = Library()
        return _loaded
