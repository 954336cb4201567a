"""kbench.rl: rewards as a function of results, and environments with scripted and real judges."""

import dataclasses
import itertools
import math
import random
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any, Optional

import kbench
from devices import expect_device
from kbench import rl
from kbench.rl import rewards
from scripted import RIGHT, WRONG, ScriptedJudge, result

SMOKE = rl.EpisodeOptions(preset="smoke", attempts=2)
LOWS = [0.0, 0.01, 0.5, 0.999, 1.0, 1.001, 1.5, 2.0, 5.0, 9.99, 10.0, 10.01, 1e6]


def of(one: kbench.Result, options: rl.RewardOptions) -> float:
    value = rl.reward(one, options)
    assert value is not None
    return value


def worth(verdict: str, options: rl.RewardOptions, low: float = 0.0, **more: Any) -> float:
    return of(result(verdict, low, **more), options)


def many_options() -> list[rl.RewardOptions]:
    """Corners of all fields, and some between them."""
    drawn = random.Random(7)
    made = [
        rl.RewardOptions(speed=speed, general=general, thresholds=thresholds)
        for speed, general, thresholds in itertools.product(
            ("linear", "log"), ("share", "all", "off"), ((), (1.0,), (0.5, 1.0, 2.0))
        )
    ]
    for _ in range(100):
        built, wrong, correct = sorted(drawn.choice((0.0, drawn.random())) for _ in range(3))
        made.append(
            rl.RewardOptions(
                correct,
                drawn.choice(("linear", "log")),
                drawn.choice((0.0, 1.5, 10.0, 100.0)),
                drawn.choice((0.0, 0.5, 1.0, 3.0)),
                drawn.choice(((), (1.0,), (1.0, 1.5, 2.0))),
                built,
                wrong,
                drawn.choice(("share", "all", "off")),
                drawn.choice((0.0, 0.5, 1.0)),
                drawn.choice((0.0, 0.3, 1.0)),
            )
        )
    return made


class Rewards(unittest.TestCase):
    def test_every_verdict_has_its_place(self) -> None:
        places = [{"passed"}, rewards.NO_REWARD, rewards.CHEATS, rewards.COMPUTED]
        places.append(rewards.OTHER_FAULTS)
        known = [verdict for place in places for verdict in place]
        self.assertEqual(sorted(known), sorted(set(kbench.verdicts()) | {"compiles"}))
        for verdict, fault in kbench.verdicts().items():
            rewarded = rl.reward(result(verdict)) is not None
            self.assertEqual(rewarded, fault or verdict == "passed", verdict)
        with self.assertRaisesRegex(kbench.InvalidArgumentError, "from_the_future"):
            rl.reward(result("from_the_future"))

    def test_the_formula(self) -> None:
        self.assertAlmostEqual(worth("passed", rl.RewardOptions(), 1.7), 0.3 + 1.7)
        self.assertAlmostEqual(worth("passed", rl.RewardOptions(), 12.0), 0.3 + 10)
        self.assertAlmostEqual(worth("passed", rl.RewardOptions(speed="log"), 3.0), 0.3 + 2)
        staged = rl.RewardOptions(1, weight=2, thresholds=(1, 2, 4))
        self.assertAlmostEqual(worth("passed", staged, 2.5), 1 + 2 * 2 / 3)
        self.assertAlmostEqual(worth("passed", staged, 2.0), 1 + 2 * 1 / 3)  # above, not at
        self.assertEqual(worth("wrong_values", rl.RewardOptions()), 0.0)

    def test_floors(self) -> None:
        floors = rl.RewardOptions(built=0.05, wrong=0.1)
        self.assertEqual(worth("compile_error", floors, lane=""), 0.0)
        self.assertEqual(worth("crashed", floors), 0.05)
        self.assertEqual(worth("timeout", floors, lane=""), 0.0)
        self.assertEqual(worth("not_written", floors), 0.05)
        self.assertEqual(worth("all_zero", floors), 0.05)
        self.assertEqual(worth("wrong_values", floors), 0.1)
        self.assertEqual(worth("not_general", floors), 0.1)

    def test_grows_with_the_lower_bound_alone(self) -> None:
        passed = [result("passed", low) for low in LOWS]
        noisy = dataclasses.replace(passed[6], speedup=kbench.Interval(1.5, 7.0, 90.0))
        for options in many_options():
            values = [of(one, options) for one in passed]
            self.assertEqual(values, sorted(values), options)
            self.assertEqual(of(noisy, options), values[6])
        for speed in ("linear", "log"):
            values = [worth("passed", rl.RewardOptions(speed=speed), low) for low in LOWS[:11]]
            self.assertEqual(len(set(values)), 11, "below the cap each is worth more")

    def test_is_finite_and_capped(self) -> None:
        one = result("passed", 1.0)
        passed = [
            dataclasses.replace(one, speedup=kbench.Interval(low, low, math.inf))
            for low in (*LOWS, math.inf)
        ]
        for options in many_options():
            most = options.correct + options.weight * max(options.cap, 1) + 1e-9
            for value in (of(one, options) for one in passed):
                self.assertTrue(0 <= value <= most, f"{value} {options}")

    def test_order_of_what_happened(self) -> None:
        """Right is worth no less than wrong, wrong no less than what did not get so far; a cheat
        is worth nothing."""
        labels: list[dict[str, Any]] = [
            {},
            {"holds_at": {"tried": 6, "right": 0}},
            {"own_kernels": 0.0},
            {"task": "level2/14"},
        ]
        computed = [result(verdict) for verdict in rewards.COMPUTED]
        failed = [result(verdict) for verdict in rewards.OTHER_FAULTS]
        not_built = [dataclasses.replace(one, lane="") for one in failed]
        cheated = [result(verdict, 50.0) for verdict in rewards.CHEATS]
        passed = [result("passed", low, **label) for low in LOWS for label in labels]
        for options in many_options():
            groups = [
                [of(one, options) for one in group]
                for group in (cheated, not_built, failed, computed, passed)
            ]
            self.assertEqual(max(groups[0]), 0.0)
            for lower, upper in zip(groups, groups[1:]):
                self.assertLessEqual(max(lower), min(upper), options)

    def test_labels(self) -> None:
        def of(options: rl.RewardOptions = rl.RewardOptions(), **more: Any) -> rl.Reward:
            parts = rl.explained(result("passed", 2.0, **more), options)
            assert parts is not None
            return parts

        half = of(holds_at={"tried": 6, "right": 3})
        self.assertAlmostEqual(half.value, 2.3 / 2)
        self.assertEqual(half.labels, ("not_general",))
        self.assertEqual(of(holds_at={"tried": 6, "right": 6}).labels, ())
        self.assertEqual(of(holds_at={"tried": 0, "right": 0}).kept, 1.0)
        strict = rl.RewardOptions(general="all", wrong=0.1)
        self.assertAlmostEqual(of(strict, holds_at={"tried": 6, "right": 5}).value, 0.1)
        ignored = rl.RewardOptions(general="off")
        self.assertAlmostEqual(of(ignored, holds_at={"tried": 6, "right": 0}).value, 2.3)
        self.assertEqual(of(own_kernels=0.2).value, 0.0)
        self.assertEqual(of(own_kernels=0.2).labels, ("few_own_kernels",))
        self.assertAlmostEqual(of(own_kernels=0.5).value, 2.3)
        self.assertAlmostEqual(of(rl.RewardOptions(least_own_kernels=0), own_kernels=0).value, 2.3)
        self.assertAlmostEqual(of(task="level2/14").value, 0.3)
        self.assertEqual(of(task="level2/14").labels, ("collapses",))
        self.assertAlmostEqual(of(rl.RewardOptions(collapsing=1), task="level2/14").value, 2.3)

    def test_refuses_options_that_make_no_sense(self) -> None:
        cases: list[dict[str, Any]] = [
            {"built": 0.2, "wrong": 0.1},
            {"wrong": 0.4},
            {"correct": math.nan},
            {"correct": math.inf},
            {"weight": -1},
            {"cap": math.inf},
            {"thresholds": (math.nan,)},
            {"speed": "cubic"},
            {"general": "some"},
            {"least_own_kernels": 1.5},
            {"collapsing": -0.1},
        ]
        for wrong in cases:
            with self.assertRaises(kbench.InvalidArgumentError, msg=str(wrong)) as caught:
                rl.RewardOptions(**wrong)
            self.assertIn(next(reversed(wrong)), str(caught.exception))

    def test_metrics_are_numbers(self) -> None:
        found = rl.metrics(result("passed", 2.0, holds_at={"tried": 4, "right": 1}))
        self.assertEqual((found["correct"], found["fast_1"], found["general"]), (1.0, 1.0, 0.25))
        self.assertNotIn("speedup", rl.metrics(result("crashed")))


class WithAScriptedJudge(unittest.TestCase):
    def test_first_wrong_then_right(self) -> None:
        judge = ScriptedJudge()
        environment = rl.Environment(judge, SMOKE, author="model")
        first = environment.reset("level1/19")
        self.assertEqual(first, kbench.prompt("1/19", "smoke"))
        wrong = environment.step(WRONG)
        self.assertEqual((wrong.reward, wrong.done, wrong.counted), (0.0, False, True))
        assert wrong.outcome is not None
        told = kbench.feedback(wrong.outcome.result, wrong.outcome.files)
        self.assertEqual(wrong.outcome.feedback, told)
        again = kbench.ShownAttempt(told, wrong.outcome.files, outcome="wrong_values")
        self.assertEqual(wrong.messages, kbench.prompt("1/19", "smoke", attempts=[again]))
        right = environment.step(RIGHT)
        self.assertEqual((right.reward, right.done, right.ending), (2.3, True, "goal"))
        self.assertEqual(right.metrics["correct"], 1.0)
        self.assertEqual([each.author for each in judge.judged], ["model", "model"])
        with self.assertRaisesRegex(kbench.InvalidArgumentError, "done"):
            environment.step(RIGHT)

    def test_answers_without_a_candidate_reach_no_judge(self) -> None:
        judge = ScriptedJudge()
        environment = rl.Environment(judge, rl.EpisodeOptions(preset="smoke", attempts=4))
        environment.reset("1/19")
        prose = environment.step("I would use a ReLU.")
        assert prose.outcome is not None
        self.assertEqual((prose.outcome.outcome, prose.reward), ("no_candidate", 0.0))
        self.assertIn("I would use a ReLU.", str(prose.messages))
        cut = environment.step(rl.Answer(RIGHT[:40], "length"))
        assert cut.outcome is not None
        self.assertEqual(cut.outcome.outcome, "truncated")
        long = environment.step(rl.Answer("", "context_length"))
        self.assertEqual((long.reward, long.ending), (None, "too_long"))
        self.assertEqual(judge.judged, [])

    def test_a_failure_of_the_harness_is_no_reward_and_no_attempt(self) -> None:
        judge = ScriptedJudge(first=("harness_error",))
        environment = rl.Environment(judge, SMOKE)
        first = environment.reset("1/19")
        lost = environment.step(RIGHT)
        self.assertEqual((lost.reward, lost.done, lost.counted), (None, False, False))
        self.assertEqual((len(judge.judged), lost.messages), (1, first))
        self.assertEqual(environment.step(RIGHT).reward, 2.3)

    def test_an_exception_of_the_judge_leaves_the_episode_as_it_was(self) -> None:
        judge = ScriptedJudge()
        environment = rl.Environment(judge, SMOKE)
        environment.reset("1/19")
        judge.raises = kbench.NoAnswerError("it is out")
        with self.assertRaises(kbench.NoAnswerError):
            environment.step(RIGHT)
        judge.raises = None
        self.assertEqual(environment.episode.next_attempt, 1)
        self.assertEqual(environment.step(RIGHT).reward, 2.3)

    def test_what_was_judged_at_other_sizes_is_refused(self) -> None:
        environment = rl.Environment(ScriptedJudge(), rl.EpisodeOptions(preset="v0.1"))
        environment.reset("1/19")
        with self.assertRaisesRegex(kbench.InvalidArgumentError, "smoke.*v0.1"):
            environment.step(RIGHT)
        odd = rl.EpisodeOptions(preset="smoke", overrides={"dim": 65})
        environment = rl.Environment(ScriptedJudge(variables={"dim": 64}), odd)
        environment.reset("1/19")
        with self.assertRaisesRegex(kbench.InvalidArgumentError, "65"):
            environment.step(RIGHT)

    def test_smoke_first(self) -> None:
        small, large = ScriptedJudge(first=("crashed",)), ScriptedJudge(preset="v0.1")
        options = rl.EpisodeOptions(preset="v0.1", attempts=3)
        environment = rl.Environment(large, options, smoke=small)
        environment.reset("1/19")
        crashed = environment.step(WRONG)
        assert crashed.result is not None
        self.assertEqual((crashed.result.verdict, len(large.judged)), ("crashed", 0))
        wrong = environment.step(WRONG + " ")
        assert wrong.outcome is not None and wrong.outcome.reduced is not None
        self.assertEqual(wrong.outcome.reduced.preset, "smoke")
        self.assertEqual(wrong.outcome.result.preset, "v0.1")
        with self.assertRaisesRegex(kbench.InvalidArgumentError, "smoke"):
            rl.Environment(large, rl.EpisodeOptions(smoke="first"))

    def test_a_batch_is_as_its_episodes_one_by_one(self) -> None:
        tasks = ["level1/19", "level1/20"] * 6
        answers = [WRONG if i % 3 == 0 else RIGHT for i in range(12)]
        answers = [text.replace("level1/19", task) for text, task in zip(answers, tasks)]
        judges = [ScriptedJudge() for _ in range(3)]
        batch = rl.BatchEnvironment(judges, SMOKE)
        self.assertEqual(len(batch.reset(tasks)), 12)
        steps = batch.step(answers)
        for task, answer, step in zip(tasks, answers, steps):
            alone = rl.Environment(ScriptedJudge(), SMOKE)
            alone.reset(task)
            self.assertEqual(step, alone.step(answer))
        self.assertEqual(sum(len(judge.judged) for judge in judges), 12)
        rest: list[Optional[rl.AnyAnswer]] = [
            None if step is None or step.done else RIGHT.replace("level1/19", task)
            for task, step in zip(tasks, steps)
        ]
        last = batch.step(rest)
        self.assertEqual([step is None for step in last], [each is None for each in rest])
        self.assertTrue(all(episode.done for episode in batch.episodes))

    def test_a_judge_stays_with_its_task(self) -> None:
        judge = ScriptedJudge()
        batch = rl.BatchEnvironment([judge], SMOKE)
        tasks = ["level1/19", "level1/20", "level1/21"] * 4
        batch.reset(tasks)
        batch.step([RIGHT.replace("level1/19", task) for task in tasks])
        seen = [str(each.files["candidate.yaml"]).split("task: ")[1][:9] for each in judge.judged]
        self.assertEqual(len([None for one, two in zip(seen, seen[1:]) if one != two]), 2, seen)

    def test_one_judge_that_fails_loses_its_own_steps_alone(self) -> None:
        good, bad = ScriptedJudge(), ScriptedJudge()
        bad.raises = kbench.DeviceLostError("gone")
        batch = rl.BatchEnvironment([good, bad], SMOKE)
        batch.reset(["1/19"] * 8)
        steps = [step for step in batch.step([RIGHT] * 8) if step is not None]
        lost = [at for at, step in enumerate(steps) if step.error is not None]
        self.assertEqual(len(lost), len(bad.judged))
        for at, step in enumerate(steps):
            self.assertEqual(step.reward, None if at in lost else 2.3)
            self.assertEqual(step.done, at not in lost)
        bad.raises = ValueError("a bug")
        bad.judged, good.judged = [], []
        batch.reset(["1/19"] * 2)
        good.raises = ValueError("a bug")
        with self.assertRaisesRegex(ValueError, "a bug"):
            batch.step([RIGHT] * 2)

    def test_a_batch_refuses_what_does_not_fit(self) -> None:
        batch = rl.BatchEnvironment([ScriptedJudge()], SMOKE)
        batch.reset(["1/19"])
        with self.assertRaisesRegex(kbench.InvalidArgumentError, "2 answers for 1"):
            batch.step([RIGHT, RIGHT])
        batch.step([RIGHT])
        with self.assertRaisesRegex(kbench.InvalidArgumentError, "episode 0 is done"):
            batch.step([RIGHT])
        with self.assertRaises(kbench.InvalidArgumentError):
            rl.BatchEnvironment([], SMOKE)
        with self.assertRaises(kbench.InvalidArgumentError):
            rl.BatchEnvironment([ScriptedJudge()] * 2, SMOKE, smoke=[ScriptedJudge()])
        with self.assertRaises(kbench.NotFoundError):
            batch.reset(["9/9"])

    def test_a_pool_gives_each_judge_one_candidate_at_a_time(self) -> None:
        judges = [ScriptedJudge() for _ in range(2)]
        pool = rl.JudgePool(judges)
        batch = rl.BatchEnvironment([pool] * 6, SMOKE)
        batch.reset(["1/19"] * 24)
        for step in batch.step([RIGHT] * 24):
            assert step is not None
            self.assertEqual(step.reward, 2.3)
        self.assertEqual(sum(len(judge.judged) for judge in judges), 24)

    def test_options_are_those_of_the_library(self) -> None:
        request: dict[str, Any] = {"task": "1/19", "no_such_field": 1}
        from kbench._library import library

        with self.assertRaises(kbench.ParseError) as caught:
            library().new_episode(request)
        known = set(str(caught.exception).split("it may have ")[1].split(", "))
        own = {field.name for field in dataclasses.fields(rl.EpisodeOptions)}
        self.assertEqual(known - {"task"}, own)


class OnADevice(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        expect_device()

    def test_the_program_of_the_documentation(self) -> None:
        page = Path(__file__).parents[2] / "docs" / "training.md"
        program = page.read_text().split("````python\n")[1].split("````\n")[0]
        said = subprocess.run(
            [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True
        )
        self.assertEqual(said.stderr, "")
        self.assertRegex(
            said.stdout,
            r"^episode 0: passed, reward [0-9.]+\n"
            r"episode 1: wrong_values, reward 0.00\n"
            r"episode 1: passed, reward [0-9.]+\n$",
        )


if __name__ == "__main__":
    unittest.main()
