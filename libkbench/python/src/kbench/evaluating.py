"""Evaluators: from a candidate to its result."""

from __future__ import annotations

import base64
import json
import os
import threading
import weakref
from types import TracebackType
from typing import Any, Callable, Mapping, Optional, Protocol, Type, Union

from ._call import Call, tell
from ._library import encoded, library
from .errors import InvalidArgumentError
from .options import Options
from .records import AnyCandidate, Candidate, Device, Interval, Progress, Result

OnStage = Callable[[str], None]
OnProgress = Callable[[Progress], None]


class _Stoppable(Protocol):
    def cancel(self) -> object:
        """It ends soon."""


class Stop:
    """A request to stop, for evaluations that run in other threads. Once made it stays."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._calls: weakref.WeakSet[_Stoppable] = weakref.WeakSet()
        self._requested = False

    def request(self) -> None:
        """Whatever this was handed to raises Cancelled soon after."""
        with self._lock:
            self._requested = True
            for call in list(self._calls):
                call.cancel()

    @property
    def requested(self) -> bool:
        return self._requested

    def _cancels(self, call: _Stoppable) -> None:
        with self._lock:
            self._calls.add(call)
            if self._requested:
                call.cancel()


class Evaluator:
    """Judges candidates on one device, one after another.

    Keeps a judge process, and with it the device and much else: the first evaluation takes longer
    than those that follow. May be called from several threads, which wait for each other; use one
    in a thread each, for several devices. Python runs on while one evaluates. `on_stage` and
    `on_progress` are called in the thread that evaluates; what they raise ends the evaluation, as
    Ctrl-C does.
    """

    def __init__(
        self,
        options: Options = Options(),
        on_stage: Optional[OnStage] = None,
        on_progress: Optional[OnProgress] = None,
    ) -> None:
        loaded = library()
        self._on_event = _teller(on_stage, on_progress)
        self._lock = threading.Lock()
        self._calls = 0
        self._closed = False
        self._handle, self._callback = loaded.new_evaluator(_options_json(options), tell)
        self._finalizer = weakref.finalize(
            self, _free_evaluator, self._handle, self._callback
        )
        self._finalizer.atexit = False  # As above; the judge ends with the process that asks it.

    def evaluate(self, candidate: AnyCandidate, stop: Optional[Stop] = None) -> Result:
        """From a candidate to its result. A hang, a crash or wrong values are verdicts in it.

        Raises an Error for what the caller did (a path that names nothing, options that make no
        sense), and Cancelled after `stop` was requested.
        """
        return self._call("kbench_evaluator_evaluate", candidate, stop)

    def check(self, candidate: AnyCandidate, stop: Optional[Stop] = None) -> Result:
        """Up to compiling: "compiles" is the best verdict."""
        return self._call("kbench_evaluator_check", candidate, stop)

    def close(self) -> None:
        """Ends the judge. Not while an evaluation runs in another thread."""
        with self._lock:
            if self._calls:
                raise InvalidArgumentError("the evaluator is in use")
            self._closed = True
        self._finalizer()

    def __enter__(self) -> "Evaluator":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def _call(self, name: str, candidate: AnyCandidate, stop: Optional[Stop]) -> Result:
        request = encoded(_candidate_json(candidate))

        def make(stopper: int) -> Any:
            with self._lock:
                if self._closed:
                    raise InvalidArgumentError("the evaluator is closed")
                self._calls += 1
            try:
                return library().call(name, self._handle, request, stopper)
            finally:
                with self._lock:
                    self._calls -= 1

        return _result_of(Call(make, self._on_event), stop)


def evaluate(
    candidate: AnyCandidate, options: Options = Options(), stop: Optional[Stop] = None
) -> Result:
    """One evaluation, with a judge of its own."""
    return _alone("kbench_evaluate", candidate, options, stop)


def check(
    candidate: AnyCandidate, options: Options = Options(), stop: Optional[Stop] = None
) -> Result:
    """Up to compiling, with a judge of its own."""
    return _alone("kbench_check", candidate, options, stop)


def read_candidate(path: Union[str, os.PathLike[str]]) -> Candidate:
    """A candidate on disk with all its files, to be evaluated elsewhere, under its name here."""
    members = _files_at(path)
    files = {name: _bytes_of(content) for name, content in members["files"].items()}
    return Candidate(files, members["manifest"], members["name"])


def devices(program: Optional[str] = None) -> list[Device]:
    """The devices of this machine, usable or not."""
    program = program or library().program()
    answer = library().ask("kbench_devices", {"program": program} if program else {})
    return [Device(**each) for each in answer["devices"]]


def _alone(name: str, candidate: AnyCandidate, options: Options, stop: Optional[Stop]) -> Result:
    request = {"candidate": _candidate_json(candidate), "options": _options_json(options)}
    text = encoded(request)
    return _result_of(Call(lambda stopper: library().call(name, text, stopper)), stop)


def _result_of(call: Call, stop: Optional[Stop]) -> Result:
    if stop is not None:
        stop._cancels(call)
    return Result.from_json(call.run())


def _free_evaluator(handle: int, callback: Any) -> None:
    library().free_evaluator(handle)
    del callback  # It lives as long as the evaluator.


def _teller(
    on_stage: Optional[OnStage], on_progress: Optional[OnProgress]
) -> Callable[[bytes], None]:
    def on_event(text: bytes) -> None:
        event = json.loads(text)
        if "stage" in event and on_stage is not None:
            on_stage(event["stage"])
        elif "progress" in event and on_progress is not None:
            progress = event["progress"]
            speedup = Interval.from_json(progress["speedup"])
            on_progress(Progress(progress["samples"], speedup, progress["seconds"]))

    return on_event


def _options_json(options: Options) -> dict[str, Any]:
    value = options.to_json()
    if "program" not in value:
        program = library().program()
        if program:
            value["program"] = program
    return value


def _content(content: Union[str, bytes]) -> Any:
    if isinstance(content, str):
        return content
    return {"base64": base64.b64encode(content).decode()}


def _bytes_of(content: Any) -> Union[str, bytes]:
    return content if isinstance(content, str) else base64.b64decode(content["base64"])


def _files_at(path: Union[str, os.PathLike[str]]) -> dict[str, Any]:
    """A candidate on disk as the members of one in memory; "task_file" may be one."""
    members: dict[str, Any] = library().ask("kbench_candidate_files", _candidate_json(path))
    # What results call it where it lies.
    shown = os.path.normpath(os.fsencode(path)).decode(errors="replace")
    members["name"] = "/".join(shown.split("/")[-2:])
    return members


def _candidate_json(candidate: AnyCandidate) -> dict[str, Any]:
    if isinstance(candidate, Mapping):
        candidate = Candidate(candidate)
    if isinstance(candidate, Candidate):
        value: dict[str, Any] = {
            "files": {path: _content(content) for path, content in candidate.files.items()},
            "manifest": candidate.manifest,
        }
        if candidate.name:
            value["name"] = candidate.name
        if candidate.author:
            value["author"] = candidate.author
        return value
    return {"path": _content(os.fsencode(candidate))}
