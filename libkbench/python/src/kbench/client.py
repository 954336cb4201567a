"""Evaluating on other machines: a client of `kbench serve --http`, which needs no library."""

from __future__ import annotations

import json
import os
import random
import ssl
import threading
import time
import uuid
from collections import deque
from concurrent.futures import Future, wait
from dataclasses import dataclass
from os import PathLike
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Callable, Iterable, Iterator, Mapping, Optional, Sequence, Type, Union

from ._http import Answer, Line, Server
from ._library import library
from .errors import (
    Cancelled,
    Error,
    InvalidArgumentError,
    NoAnswerError,
    NotFoundError,
    UnsupportedError,
    error_of,
)
from .evaluating import Stop, _candidate_json, _files_at
from .options import Options
from .records import AnyCandidate, Candidate, Result

POLL_SECONDS = 10
"""A server is asked to wait so long for an outcome: less than proxies wait for an answer."""
MOVE_SECONDS = 15.0
"""An experiment at a server that does not answer for so long goes to another one."""
END_SECONDS = 5.0
"""So long is waited for what was cancelled."""
MOST_LOST = 5
"""A server that forgets an experiment more often is not one server."""


@dataclass(frozen=True)
class Health:
    """How one server does: "ok", or why it takes no experiments."""

    url: str
    status: str
    devices: int


class Evaluation(Future[Result]):
    """One experiment at a server, and its result to come.

    A `concurrent.futures.Future` that can be cancelled at any stage; `result()` raises Cancelled
    then. Whoever has one may also use `concurrent.futures.wait()` and `asyncio.wrap_future()`.
    """

    def __init__(self, pool: "_Pool", request: bytes) -> None:
        super().__init__()
        self._pool = pool
        self._request = request
        self._line = Line()
        self._claiming = threading.Lock()
        self._claimed = False
        # Of the server that it is at:
        self._server: Optional[Server] = None
        self._came = 0.0  # when it came there, or that server was last heard of
        self._key = str(uuid.uuid4())
        self._place = ""  # where to ask for it, once the server has said that it has it
        self._may_be_there = False

    def cancel(self) -> bool:
        """Ends it, also at the server. False where it has ended already."""
        open_still = not self.done()
        self._line.interrupt()
        if self._claim():
            self.set_exception(_cancelled())
        return open_still

    def _claim(self) -> bool:
        with self._claiming:
            claimed, self._claimed = self._claimed, True
            return not claimed

    def _run(self) -> None:
        if not self._claim():
            return
        try:
            result = self._evaluated()
        except BaseException as error:
            try:
                self._withdraw()
            finally:
                self._finish()
                self.set_exception(error)
        else:
            self._finish()
            self.set_result(result)

    def _finish(self) -> None:
        self._release()
        self._request = b""

    def _evaluated(self) -> Result:
        patience = self._pool.patience
        heard = time.monotonic()
        lost = 0
        while True:
            self._pause(heard + patience)
            sent_before = self._may_be_there
            answer = self._ask(self._line)
            if self._line.interrupted:
                raise _cancelled()
            if answer.good:
                heard = self._came = time.monotonic()
                state = answer.body.get("state")
                if state in ("done", "failed"):
                    self._forgotten()
                    return _outcome(answer)
                if state != "cancelled":
                    self._place = f"/v1/experiments/{answer.body.get('experiment', '')}"
                    continue
                # By a server that was stopped; what it knows under this key is that.
                self._key = str(uuid.uuid4())
            elif answer.status != 404 or not self._place:
                if not answer.passing:
                    self._forgotten()
                    raise _refusal(answer)
                silent = time.monotonic() - heard
                if silent >= patience:
                    raise NoAnswerError(f"{answer}; so for {silent:.0f} s")
                if not self._place:
                    if not answer.sent:
                        self._may_be_there = sent_before
                    elif answer.status in (429, 503):
                        self._may_be_there = False
                    if not self._may_be_there:
                        self._release()
                continue
            # The server has been started again, or has kept the outcome for long enough.
            self._forgotten()
            lost += 1
            if lost > MOST_LOST:
                raise NoAnswerError(
                    f"{answer.url} has forgotten an experiment {lost} times; where several servers "
                    "are behind one address, see docs/cluster.md"
                )

    def _forgotten(self) -> None:
        """The server has nothing of it that would have to be cancelled."""
        self._place, self._may_be_there = "", False

    def _pause(self, deadline: float) -> None:
        """Until its server may be asked, which is another one where that is of use."""
        while not self._line.interrupted:
            if self._server is None:
                self._server, self._came = self._pool.take(), time.monotonic()
            now = time.monotonic()
            seconds = min(self._server.pause(sending=not self._place), deadline - now)
            if seconds <= 0:
                return
            if self._may_be_there and self._pool.others:
                seconds = min(seconds, self._came + MOVE_SECONDS - now)
            self._line.sleep(seconds)
            if not self._may_be_there or (self._pool.others and seconds <= 0):
                self._release()
        raise _cancelled()

    def _ask(self, line: Line, timeout: float = 60.0) -> Answer:
        assert self._server is not None
        # What is in between can send all that has one key to one server.
        headers = {"Idempotency-Key": self._key}
        if self._place:
            path = f"{self._place}?wait={POLL_SECONDS}"
            return self._server.ask("GET", path, line, headers, timeout=timeout)
        headers.update({"Content-Type": "application/json", "Prefer": "respond-async"})
        self._may_be_there = True
        return self._server.ask("POST", "/v1/evaluate", line, headers, self._request, timeout)

    def _withdraw(self) -> None:
        """Cancels what a server may have of it, as far as it can be reached at once."""
        if self._server is None or not self._may_be_there:
            return
        line = Line()  # which nobody interrupts
        headers = {"Idempotency-Key": self._key}
        if not self._place:  # By its key the server says which one it is.
            known = self._ask(line, END_SECONDS)
            if known.good:
                self._place = f"/v1/experiments/{known.body.get('experiment', '')}"
        if self._place:
            self._server.ask("DELETE", self._place, line, headers, timeout=END_SECONDS)

    def _release(self) -> None:
        if self._server is not None:
            self._pool.give_back(self._server)
        self._server = None
        self._forgotten()


def _badness(server: Server) -> tuple[bool, float, int, float]:
    # One experiment is enough to find out whether a server is back.
    trying = server.failing and server.waiting > 0
    return trying, server.pause(sending=True), server.waiting, random.random()


class _Pool:
    """Servers, of which the one with the fewest experiments gets the next."""

    def __init__(self, servers: Sequence[Server], patience: float) -> None:
        self.servers = servers
        self.patience = patience
        self.others = len(servers) > 1
        self._lock = threading.Lock()

    def take(self) -> Server:
        with self._lock:
            chosen = min(self.servers, key=_badness)
            chosen.waiting += 1
            return chosen

    def give_back(self, server: Server) -> None:
        with self._lock:
            server.waiting -= 1


class _Workers:
    """Threads that end when there is no work, and do not keep the process from ending."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._work: deque[Callable[[], None]] = deque()
        self._threads = 0

    def add(self, work: Callable[[], None]) -> None:
        with self._lock:
            self._work.append(work)
            if self._threads == self._most:
                return
            try:
                threading.Thread(target=self._serve, name="kbench.Client", daemon=True).start()
                self._threads += 1
            except RuntimeError:  # There is no thread to be had.
                if self._threads == 0:
                    self._work.pop()
                    raise

    def _serve(self) -> None:
        while True:
            with self._lock:
                if not self._work:
                    self._threads -= 1
                    return
                work = self._work.popleft()
            work()


class Client:
    """Judges candidates on servers (`kbench serve --http`), as an Evaluator does on this machine.

    `url` is a server's, or a list of them, over which experiments are spread. The token, where the
    servers want one, is KBENCH_TOKEN's in the environment unless it is given; `ca_file` names the
    certificates to trust in place of the system's. What `options` leave out is the server's choice.
    Up to `in_flight` experiments of submit() and evaluate_many() are at each server at a time.

    A broken connection, a server that has no room or is started again cost time only: under its
    idempotency key an experiment that is sent twice is evaluated once, and one that a server has
    lost is sent anew. NoAnswerError is raised where none took or knew an experiment for `patience`
    seconds. May be called from any thread.
    """

    def __init__(
        self,
        url: Union[str, Sequence[str]],
        token: Optional[str] = None,
        options: Options = Options(),
        *,
        in_flight: int = 16,
        patience: float = 120.0,
        ca_file: Union[str, PathLike[str], None] = None,
    ) -> None:
        urls = [url] if isinstance(url, str) else list(url)
        if not urls:
            raise InvalidArgumentError("there is no server")
        if in_flight < 1:
            raise InvalidArgumentError("in_flight is at least 1")
        if not patience >= 0:
            raise InvalidArgumentError("patience is a number of seconds")
        secret = (os.environ.get("KBENCH_TOKEN", "") if token is None else token).strip()
        if not all(" " < character <= "~" for character in secret):
            raise InvalidArgumentError("a token has visible characters of ASCII only")
        self._members = _members_of(options)
        context = _context(ca_file) if any(each.startswith("https:") for each in urls) else None
        self._pool = _Pool([Server(each, secret, context) for each in urls], patience)
        self._most = in_flight * len(urls)
        self._workers = _Workers(self._most)
        self._lock = threading.Lock()
        self._open: set[Future[Result]] = set()
        self._closed = False

    def __repr__(self) -> str:
        return f"Client({', '.join(repr(server.url) for server in self._pool.servers)})"

    def evaluate(
        self,
        candidate: AnyCandidate,
        stop: Optional[Stop] = None,
        *,
        task_file: Optional[str] = None,
    ) -> Result:
        """From a candidate to its result, as Evaluator.evaluate().

        A candidate on disk is read here, for which the library has to be installed. `task_file` is
        the text of the task's file where the task is one of your own; of a candidate on disk it is
        known where kbench.tasks() has read it. Raises an Error also where the server refuses the
        request.
        """
        return self._alone(self._request_of(candidate, False, task_file), stop)

    def check(
        self,
        candidate: AnyCandidate,
        stop: Optional[Stop] = None,
        *,
        task_file: Optional[str] = None,
    ) -> Result:
        """Up to compiling: "compiles" is the best verdict."""
        return self._alone(self._request_of(candidate, True, task_file), stop)

    def submit(
        self,
        candidate: AnyCandidate,
        stop: Optional[Stop] = None,
        *,
        check: bool = False,
        task_file: Optional[str] = None,
    ) -> Evaluation:
        """The same in the background: any number can be handed in."""
        evaluation = self._new(self._request_of(candidate, check, task_file), stop)
        self._workers.add(evaluation._run)
        return evaluation

    def evaluate_many(
        self,
        candidates: Iterable[AnyCandidate],
        stop: Optional[Stop] = None,
        *,
        check: bool = False,
        task_file: Optional[str] = None,
    ) -> Iterator[tuple[int, Result]]:
        """Each candidate's index and result, as they are done, in any order.

        Candidates are taken as there is room for them. The first error ends all that is still
        under way, and so does leaving the loop.
        """
        ended: SimpleQueue[Future[Result]] = SimpleQueue()
        flying: dict[Future[Result], int] = {}
        coming = iter(candidates)
        taken, index, more = 0, 0, True
        try:
            while more or flying:
                while more and len(flying) < 2 * self._most:
                    index = taken
                    candidate = next(coming, None)
                    if candidate is None:
                        more = False
                        break
                    taken += 1
                    evaluation = self.submit(candidate, stop, check=check, task_file=task_file)
                    flying[evaluation] = index
                    evaluation.add_done_callback(ended.put)
                if flying:
                    done = ended.get()
                    index = flying.pop(done)
                    yield index, done.result()
        except Cancelled:
            raise
        except Error as error:
            where = f"candidate {index}: {error.message}"
            raise error_of(error.code, where, error.file, error.line, error.column) from error
        finally:
            _end(list(flying))

    def tasks(self) -> list[dict[str, Any]]:
        """The suite, as the first server that answers has it: "task", "name", "family" and so
        on."""
        trouble = ""
        for server in self._pool.servers:
            answer = server.ask("GET", "/v1/tasks", Line())
            if answer.good:
                return list(answer.body["tasks"])
            trouble = trouble or str(answer)
            if not answer.passing:
                raise _refusal(answer)
        raise NoAnswerError(trouble)

    def devices(self) -> list[dict[str, Any]]:
        """The devices of all servers: "server" (its URL), "index", "name", "device_uuid" (as
        results have it) and so on."""
        devices = []
        for server in self._pool.servers:
            answer = server.ask("GET", "/v1/devices", Line())
            if not answer.good:
                raise NoAnswerError(str(answer)) if answer.passing else _refusal(answer)
            for each in answer.body["devices"]:
                device = {"server": server.url, **each}
                if isinstance(each.get("device_uuid"), list):
                    device["device_uuid"] = str(uuid.UUID(bytes=bytes(each["device_uuid"])))
                devices.append(device)
        return devices

    def health(self) -> list[Health]:
        """How each server does. Raises nothing."""
        found = []
        for server in self._pool.servers:
            answer = server.ask("GET", "/healthz", Line())
            status = answer.body.get("status", str(answer))
            found.append(Health(server.url, status, answer.body.get("devices", 0)))
        return found

    def close(self) -> None:
        """Cancels what is under way."""
        with self._lock:
            self._closed = True
            left = list(self._open)
        _end(left)

    def __enter__(self) -> "Client":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def _alone(self, request: bytes, stop: Optional[Stop]) -> Result:
        evaluation = self._new(request, stop)
        evaluation._run()
        return evaluation.result()

    def _new(self, request: bytes, stop: Optional[Stop]) -> Evaluation:
        evaluation = Evaluation(self._pool, request)
        with self._lock:
            if self._closed:
                raise InvalidArgumentError("the client is closed")
            self._open.add(evaluation)
        evaluation.add_done_callback(self._forget)
        if stop is not None:
            stop._cancels(evaluation)
        return evaluation

    def _forget(self, evaluation: Future[Result]) -> None:
        with self._lock:
            self._open.discard(evaluation)

    def _request_of(
        self, candidate: AnyCandidate, check: bool, task_file: Optional[str]
    ) -> bytes:
        request = {**self._members, **_files_of(candidate)}
        if task_file is not None:
            request["task_file"] = task_file
        if check:
            request["check"] = True
        return json.dumps(request, allow_nan=False).encode()


def _cancelled() -> Cancelled:
    return Cancelled("the evaluation was cancelled")


def _end(evaluations: Sequence[Future[Result]]) -> None:
    for each in evaluations:
        each.cancel()
    wait(evaluations, timeout=END_SECONDS)


def _context(ca_file: Union[str, PathLike[str], None]) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file)
    except (OSError, ssl.SSLError) as problem:
        where = "" if ca_file is None else os.fspath(ca_file)
        raise InvalidArgumentError(f"no certificates can be read: {problem}", where) from None


def _files_of(candidate: AnyCandidate) -> dict[str, Any]:
    """As a server is sent it."""
    if isinstance(candidate, (Candidate, Mapping)):
        return _candidate_json(candidate)
    try:
        library()
    except NotFoundError as missing:
        raise NotFoundError(
            f"a candidate on disk is read with kbench's library; hand over its files, or: {missing}"
        ) from None
    return _files_at(candidate)


def _members_of(options: Options) -> dict[str, Any]:
    """As the members of a request."""
    if options.recorded is not None:
        raise UnsupportedError("a server takes no recorded times as baseline")
    if options.rule.validate or options.program is not None:
        raise UnsupportedError("'validate' and 'program' are a server's own choice, from its start")
    members = options.to_json()
    if members.get("device") == "auto":
        del members["device"]
    json.dumps(members, allow_nan=False)
    return members


def _outcome(answer: Answer) -> Result:
    """Of an experiment that was not cancelled and has ended."""
    if "error" in answer.body:
        raise InvalidArgumentError(str(answer))
    try:
        return Result.from_json(answer.body["result"])
    except (KeyError, TypeError, ValueError) as problem:
        raise UnsupportedError(
            f"{answer.url}: a result that this version of kbench cannot read ({problem!r})"
        ) from None


def _refusal(answer: Answer) -> Error:
    if answer.final is not None:
        return answer.final(str(answer))
    if answer.status == 404:
        return NotFoundError(f"{answer}; is it kbench serve --http?")
    return InvalidArgumentError(str(answer))
