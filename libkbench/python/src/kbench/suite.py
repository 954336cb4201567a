"""Tasks, scores, and what is said to language models. None of it needs a device."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence, Union

from ._library import library
from .evaluating import _candidate_json
from .records import (
    AnyCandidate,
    Device,
    Extraction,
    Leaderboard,
    Messages,
    Result,
    ShownAttempt,
    Task,
    Variable,
    results_json,
)


def tasks(select: Optional[str] = None) -> list[Task]:
    """The suite, or a selection of it: "level1/*,2/1-9"."""
    answer = library().ask("kbench_tasks", {} if select is None else {"select": select})
    return [Task(**each) for each in answer["tasks"]]


def describe(
    task: str,
    preset: str = "v0.1",
    overrides: Optional[Mapping[str, Variable]] = None,
    dtype: str = "f32",
) -> str:
    """The task for a reader who has never seen it."""
    return str(_show(task, preset, overrides, dtype, False)["text"])


def facts(
    task: str,
    preset: str = "v0.1",
    overrides: Optional[Mapping[str, Variable]] = None,
    dtype: str = "f32",
) -> dict[str, Any]:
    """What `kbench show --json` prints: docs/prompts.md describes it."""
    value: dict[str, Any] = _show(task, preset, overrides, dtype, False)["facts"]
    return value


def built_in_candidate(
    task: str,
    preset: str = "v0.1",
    overrides: Optional[Mapping[str, Variable]] = None,
    dtype: str = "f32",
) -> str:
    """A candidate's YAML that computes the task with built-in operators, to start from."""
    return str(_show(task, preset, overrides, dtype, True)["candidate"])


def verdicts() -> dict[str, bool]:
    """Every verdict, and whether it is the candidate's fault ("passed" is no fault)."""
    answer = library().ask("kbench_verdicts", {})
    return {each["name"]: each["candidates_fault"] for each in answer["verdicts"]}


def leaderboard(
    results: Sequence[Union[Result, Mapping[str, Any]]] = (),
    files: Sequence[str] = (),
    tasks: Optional[str] = None,
    thresholds: Sequence[float] = (1.0,),
    speedup_of: str = "own",
) -> Leaderboard:
    """fast_p of each candidate set; over the tasks that have a result unless `tasks` selects.

    `speedup_of`: "own"; or, of results that were timed at further sizes, "geomean" or "least".
    """
    request: dict[str, Any] = {
        "results": results_json(results),
        "files": list(files),
        "thresholds": list(thresholds),
        "speedup_of": speedup_of,
    }
    if tasks is not None:
        request["tasks"] = tasks
    answer = library().ask("kbench_leaderboard", request)
    return Leaderboard(tuple(answer["rows"]), answer["text"], answer["notes"])


def prompt(
    task: str,
    preset: str = "v0.1",
    overrides: Optional[Mapping[str, Variable]] = None,
    *,
    dtype: str = "f32",
    set: str = "default",
    shots: int = 1,
    precision: bool = True,
    code: bool = False,
    reference: bool = False,
    builtins: str = "forbid",
    language: str = "glsl",
    device: Optional[Device] = None,
    attempts: Sequence[ShownAttempt] = (),
) -> Messages:
    """The messages that ask for a candidate; with attempts, for a better one."""
    request: dict[str, Any] = {
        "task": task,
        "preset": preset,
        "overrides": dict(overrides or {}),
        "dtype": dtype,
        "set": set,
        "shots": shots,
        "precision": precision,
        "code": code,
        "reference": reference,
        "builtins": builtins,
        "language": language,
    }
    if device is not None:
        request["device"] = {k: v for k, v in vars(device).items() if v is not None}
    if attempts:
        request["attempts"] = [
            {
                "files": dict(each.files),
                "answer": each.answer,
                "feedback": each.feedback,
                "outcome": each.outcome,
            }
            for each in attempts
        ]
    messages: Messages = library().ask("kbench_prompt", request)["messages"]
    return messages


def extract(text: str, task: str, finish: str = "stop") -> Extraction:
    """The candidate in a model's answer."""
    answer = library().ask("kbench_extract", {"text": text, "task": task, "finish": finish})
    return Extraction(
        answer["outcome"], answer["files"], tuple(answer["leniencies"]), answer["explanation"]
    )


def feedback(
    result: Result, candidate: Optional[AnyCandidate] = None, max_characters: int = 4000
) -> str:
    """What a model is told of a result."""
    request: dict[str, Any] = {"result": result.json, "max_characters": max_characters}
    if candidate is not None:
        request["candidate"] = _candidate_json(candidate)
    return str(library().ask("kbench_feedback", request)["text"])


def version() -> str:
    """The library's."""
    return library().version()


def _show(
    task: str,
    preset: str,
    overrides: Optional[Mapping[str, Variable]],
    dtype: str,
    candidate: bool,
) -> dict[str, Any]:
    request = {
        "task": task,
        "preset": preset,
        "overrides": dict(overrides or {}),
        "dtype": dtype,
        "candidate": candidate,
    }
    answer: dict[str, Any] = library().ask("kbench_show", request)
    return answer
