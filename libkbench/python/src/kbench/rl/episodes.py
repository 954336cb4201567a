"""One chain of attempts at one task: kbench/episode.h's own, with the judging left to the caller."""

from __future__ import annotations

import dataclasses
import weakref
from dataclasses import dataclass, field
from typing import Any, Callable, Mapping, Optional

from .._library import encoded, library
from ..records import Device, Messages, Result, Variable


@dataclass(frozen=True)
class EpisodeOptions:
    """What is asked, and how long. None leaves a field to kbench: docs/prompts.md and models.md."""

    preset: Optional[str] = None
    """"v0.1" unless given. What judges has to judge at the same sizes."""
    overrides: Optional[Mapping[str, Variable]] = None
    dtype: Optional[str] = None
    attempts: int = 1
    goal: Optional[str] = None
    """"correct", or "faster:1.5": an episode ends once it is reached."""
    shown: Optional[str] = None
    """What a repair prompt shows: "last", "best" or "history"."""
    smoke: Optional[str] = None
    """When a candidate is tried at preset smoke: "first", "after" or "never"."""
    max_characters: Optional[int] = None
    """Of feedback."""
    history_characters: Optional[int] = None
    set: Optional[str] = None
    shots: Optional[int] = None
    precision: Optional[bool] = None
    code: Optional[bool] = None
    reference: Optional[bool] = None
    builtins: Optional[str] = None
    language: Optional[str] = None
    device: Optional[Device] = None
    """Whose limits the prompt states."""

    def to_json(self) -> dict[str, Any]:
        value = {name: each for name, each in vars(self).items() if each is not None}
        if self.device is not None:
            known = dataclasses.asdict(self.device)
            value["device"] = {name: each for name, each in known.items() if each is not None}
        if self.overrides is not None:
            value["overrides"] = dict(self.overrides)
        return value


@dataclass(frozen=True)
class Wanted:
    """What an episode wants judged."""

    task: str
    preset: str
    files: dict[str, str]
    quick: bool
    """Only whether it is right; its time is of no interest."""


@dataclass(frozen=True)
class Outcome:
    """What became of one answer."""

    outcome: str
    """"candidate", "no_candidate", "wrong_task", "truncated", "refused" or "too_long"."""
    result: Result
    reduced: Optional[Result]
    """Of preset smoke, where the feedback tells of that."""
    files: dict[str, str]
    feedback: str
    counted: bool
    """False: kbench, the driver or the machine failed, three times; nothing has happened to the
    episode, and the same answer may be handed in again."""
    attempt: dict[str, Any] = field(repr=False)
    """As a run records it."""


class Episode:
    """Messages out, an answer in, until it is done. For one thread at a time."""

    def __init__(self, task: str, options: EpisodeOptions = EpisodeOptions()) -> None:
        request = {"task": task, **options.to_json()}
        self._handle, answer = library().new_episode(request)
        weakref.finalize(self, library().free_episode, self._handle)
        self.task = task
        self._take(answer)

    def _take(self, answer: Mapping[str, Any]) -> None:
        self.messages: Messages = answer["messages"]
        """What the model is to be asked; the last question once it is done."""
        self.next_attempt: int = answer["next_attempt"]
        self.done: bool = answer["done"]
        self.ending: Optional[str] = answer["ending"]
        """"goal", "attempts", "repeated" or "too_long"."""

    def step(
        self, text: str, judge: Callable[[Wanted], Result], finish: str = "stop"
    ) -> Outcome:
        """Reads the answer, has it judged (not at all, or several times), and goes on.

        Raises what `judge` raises; the episode is as it was then.
        """
        results: list[dict[str, Any]] = []
        while True:
            request = encoded({"text": text, "finish": finish, "results": results})
            answer = library().call("kbench_episode_step", self._handle, request)
            if "step" in answer:
                break
            wanted = answer["judge"]
            result = judge(
                Wanted(wanted["task"], wanted["preset"], wanted["files"], wanted["quick"])
            )
            results.append(result.json)
        self._take(answer)
        step = answer["step"]
        reduced = step["reduced"]
        return Outcome(
            step["attempt"]["outcome"],
            Result.from_json(step["result"]),
            None if reduced is None else Result.from_json(reduced),
            step["files"],
            step["feedback"],
            step["counted"],
            step["attempt"],
        )
