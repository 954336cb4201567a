"""Environments: reset() and step(), one episode or many at once."""

from __future__ import annotations

import dataclasses
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple, Optional, Sequence, Union

from ..errors import DeviceLostError, Error, InvalidArgumentError, IoError, NoAnswerError
from ..errors import OutOfMemoryError
from ..records import Candidate, Messages, Result
from .episodes import Episode, EpisodeOptions, Outcome, Wanted
from .judges import Judge
from .rewards import Reward, RewardOptions, explained, metrics


class Answer(NamedTuple):
    """A model's, with the reason that its server gave for its end: "stop", "length", ..."""

    text: str
    finish: str = "stop"


AnyAnswer = Union[str, Answer]


@dataclass(frozen=True)
class Step:
    """What came of one answer."""

    messages: Messages
    """What the model is to be asked next; the last question where it is done."""
    reward: Optional[float]
    """None where nothing was learnt of the answer: leave it out, or hand it in again."""
    done: bool
    ending: Optional[str] = None
    outcome: Optional[Outcome] = None
    """None where the judge could not be asked; `error` says why."""
    parts: Optional[Reward] = None
    metrics: dict[str, float] = dataclasses.field(default_factory=dict)
    error: Optional[Error] = None

    @property
    def counted(self) -> bool:
        return self.outcome is not None and self.outcome.counted

    @property
    def result(self) -> Optional[Result]:
        return None if self.outcome is None else self.outcome.result


class _Setup:
    """What the episodes of an environment have in common."""

    def __init__(
        self, options: EpisodeOptions, reward: RewardOptions, author: str, with_smoke: bool
    ) -> None:
        if not with_smoke:
            if options.smoke not in (None, "never"):
                raise InvalidArgumentError(
                    f"smoke is '{options.smoke}', and no judge was given for preset smoke"
                )
            options = dataclasses.replace(options, smoke="never")
        self.options = options
        self._reward = reward
        self._author = author

    def step(
        self, episode: Episode, answer: AnyAnswer, judge: Judge, smoke: Optional[Judge]
    ) -> Step:
        def judged(wanted: Wanted) -> Result:
            chosen = smoke if wanted.quick and smoke is not None else judge
            return chosen.evaluate(Candidate(wanted.files, author=self._author))

        text, finish = (answer, "stop") if isinstance(answer, str) else answer
        outcome = episode.step(text, judged, finish)
        # A prompt that was too long is not the answer's fault either.
        rewarded = outcome.counted and outcome.outcome != "too_long"
        parts = explained(outcome.result, self._reward) if rewarded else None
        return Step(
            episode.messages,
            None if parts is None else parts.value,
            episode.done,
            episode.ending,
            outcome,
            parts,
            metrics(outcome.result),
        )


class Environment:
    """One episode at a time: reset(task) says what to ask, step(answer) what came of the answer.

    `smoke` judges at preset smoke, before `judge` does at the sizes asked for; without it nothing
    is tried there. `author`: whose the candidates are; one process may run several of one author.
    """

    def __init__(
        self,
        judge: Judge,
        options: EpisodeOptions = EpisodeOptions(),
        reward: RewardOptions = RewardOptions(),
        *,
        smoke: Optional[Judge] = None,
        author: str = "",
    ) -> None:
        self._judge = judge
        self._smoke = smoke
        self._setup = _Setup(options, reward, author, smoke is not None)
        self._episode: Optional[Episode] = None

    def reset(self, task: str) -> Messages:
        self._episode = Episode(task, self._setup.options)
        return self._episode.messages

    def step(self, answer: AnyAnswer) -> Step:
        """Raises what the judge raises; the same answer may be handed in again then."""
        return self._setup.step(self.episode, answer, self._judge, self._smoke)

    @property
    def episode(self) -> Episode:
        if self._episode is None:
            raise InvalidArgumentError("the environment was not reset")
        return self._episode


class BatchEnvironment:
    """Many episodes at once, over one judge or several, each of which works in its own thread.

    A judge goes on with the task that it had last while there are answers for it: that spares it
    making another task ready.
    """

    def __init__(
        self,
        judges: Sequence[Judge],
        options: EpisodeOptions = EpisodeOptions(),
        reward: RewardOptions = RewardOptions(),
        *,
        smoke: Sequence[Judge] = (),
        author: str = "",
    ) -> None:
        if not judges:
            raise InvalidArgumentError("an environment needs at least one judge")
        if smoke and len(smoke) != len(judges):
            raise InvalidArgumentError(
                f"{len(judges)} judges, and {len(smoke)} for preset smoke: as many, or none"
            )
        smokes: list[Optional[Judge]] = list(smoke) or [None] * len(judges)
        self._judges = list(zip(judges, smokes))
        self._last: list[Optional[str]] = [None] * len(judges)
        self._setup = _Setup(options, reward, author, bool(smoke))
        self.episodes: list[Episode] = []

    def reset(self, tasks: Sequence[str]) -> list[Messages]:
        """An episode for each; a task may stand there several times."""
        self.episodes = [Episode(task, self._setup.options) for task in tasks]
        return [episode.messages for episode in self.episodes]

    def step(self, answers: Sequence[Optional[AnyAnswer]]) -> list[Optional[Step]]:
        """One answer for each episode; None, in and out, for those that are done or left alone.

        Where a judge's machine fails, the step has no reward and says the error; what the caller
        did is raised, after all judges have let go.
        """
        if len(answers) != len(self.episodes):
            raise InvalidArgumentError(
                f"{len(answers)} answers for {len(self.episodes)} episodes"
            )
        steps: list[Optional[Step]] = [None] * len(answers)
        waiting: dict[str, list[int]] = {}
        for at, answer in enumerate(answers):
            if answer is None:
                continue
            if self.episodes[at].done:
                raise InvalidArgumentError(f"episode {at} is done")
            waiting.setdefault(self.episodes[at].task, []).append(at)
        lock = threading.Lock()
        failures: list[BaseException] = []

        def work(worker: int) -> None:
            judge, smoke = self._judges[worker]
            while True:
                with lock:
                    at = None if failures else self._next(worker, waiting)
                if at is None:
                    return
                answer = answers[at]
                assert answer is not None
                try:
                    steps[at] = self._setup.step(self.episodes[at], answer, judge, smoke)
                except (NoAnswerError, DeviceLostError, IoError, OutOfMemoryError) as error:
                    steps[at] = Step(self.episodes[at].messages, None, False, error=error)
                except BaseException as error:
                    with lock:
                        failures.append(error)

        with ThreadPoolExecutor(len(self._judges)) as pool:
            running = [pool.submit(work, worker) for worker in range(len(self._judges))]
            try:
                for each in running:
                    each.result()
            except BaseException as error:  # Ctrl-C: what is being judged ends, no more is begun.
                with lock:
                    failures.append(error)
        if failures:
            raise failures[0]
        return steps

    def _next(self, worker: int, waiting: dict[str, list[int]]) -> Optional[int]:
        if not waiting:
            return None
        task = self._last[worker]
        if task is None or task not in waiting:
            # One that no other judge has at hand, and of these the one with the most to do.
            others = {each for at, each in enumerate(self._last) if at != worker}
            task = max(waiting, key=lambda each: (each not in others, len(waiting[each])))
        self._last[worker] = task
        at = waiting[task].pop(0)
        if not waiting[task]:
            del waiting[task]
        return at
