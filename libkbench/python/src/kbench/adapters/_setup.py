"""What the adapters' commands have in common: tasks, judges, episodes, rewards, from flags."""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from typing import Callable, Optional

from ..client import Client
from ..errors import Error
from ..evaluating import Evaluator
from ..options import Options, Plan
from ..rl import Environment, EpisodeOptions, Judge, JudgePool, RewardOptions, quick
from ..suite import tasks
from ._server import JsonServer


class Setup:
    """Makes environments that share their judges. `judge` may be used by several threads."""

    def __init__(
        self,
        judge: Judge,
        select: str = "*/*",
        options: EpisodeOptions = EpisodeOptions(),
        reward: RewardOptions = RewardOptions(),
        *,
        smoke: Optional[Judge] = None,
        author: str = "",
    ) -> None:
        self.tasks = [task.task for task in tasks(select)]
        self.options = options
        self.reward = reward
        self._judge = judge
        self._smoke = smoke
        self._author = author
        self.environment().reset(self.tasks[0])  # What makes no sense is said before it serves.

    def environment(self) -> Environment:
        return Environment(
            self._judge, self.options, self.reward, smoke=self._smoke, author=self._author
        )


def flags(description: str, port: int) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--host", default="127.0.0.1", help="whoever reaches it may use it")
    parser.add_argument("--port", type=int, default=port)
    parser.add_argument("--tasks", default="*/*", help="a selection: 'level1/*,2/1-9'")
    parser.add_argument("--preset", default="smoke")
    parser.add_argument("--devices", default="auto", help="'0,1': a judge on each")
    parser.add_argument("--server", action="append", help="kbench serve --http, for no device here")
    parser.add_argument("--smoke-first", action="store_true", help="tried at preset smoke first")
    parser.add_argument("--measure-seconds", type=float)
    parser.add_argument("--attempts", type=int, default=1)
    parser.add_argument("--goal", default="correct", help="or faster:1.5")
    parser.add_argument("--language", default="glsl")
    parser.add_argument("--speed", default="linear", help="or log")
    parser.add_argument("--cap", type=float, default=10.0)
    parser.add_argument("--author", default="", help="whose the candidates are: one model's")
    return parser


def setup_of(arguments: argparse.Namespace, stack: ExitStack) -> Setup:
    plan = Plan(max_seconds=arguments.measure_seconds)

    def judge(change: Callable[[Options], Options]) -> Judge:
        if arguments.server:
            options = change(Options(preset=arguments.preset, plan=plan))
            return stack.enter_context(Client(arguments.server, options=options))
        pool: list[Judge] = []
        for device in arguments.devices.split(","):
            options = change(Options(device=device, preset=arguments.preset, plan=plan))
            pool.append(stack.enter_context(Evaluator(options)))
        return JudgePool(pool)

    return Setup(
        judge(lambda options: options),
        arguments.tasks,
        EpisodeOptions(
            preset=arguments.preset,
            attempts=arguments.attempts,
            goal=arguments.goal,
            language=arguments.language,
        ),
        RewardOptions(speed=arguments.speed, cap=arguments.cap),
        smoke=judge(quick) if arguments.smoke_first else None,
        author=arguments.author,
    )


def run(
    parser: argparse.ArgumentParser,
    arguments: argparse.Namespace,
    work: Callable[[Setup], None],
) -> int:
    """What `work` does with the setup that is asked for; an exit code."""
    try:
        with ExitStack() as stack:
            work(setup_of(arguments, stack))
    except KeyboardInterrupt:
        return 130
    except (Error, OSError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    return 0


def serve(
    parser: argparse.ArgumentParser,
    arguments: argparse.Namespace,
    server_of: Callable[[Setup, str, int], JsonServer],
) -> int:
    """Until it is interrupted."""

    def work(setup: Setup) -> None:
        with server_of(setup, arguments.host, arguments.port) as server:
            print(f"{parser.prog}: {server.url}, {len(setup.tasks)} tasks", flush=True)
            server.serve_forever()

    return run(parser, arguments, work)
