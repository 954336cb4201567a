#!/usr/bin/python3
"""Writes tests/levels/refused.txt: the sizes at which KernelBench's own modules cannot run.

    tests/levels/refusals.py --kernelbench DIR --base tests/golden/smoke.json.zst > refused.txt

Every variable of every task is set, alone, to the odd values of odd_values() below, and the module
is run. A line is a task, a variable and a value, and PyTorch's reason. OverridesTest sets the same
values and expects to be refused at these and at no others. See tests/golden/generate.py for what is
needed.
"""

import argparse
import multiprocessing
import os
import sys
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))
import generate  # noqa: E402
import torch  # noqa: E402


def odd_integers(name, value):
    if name in ("batch_size", "b"):
        return [1, 3, 5]
    return [1, 2, 3, 5] if value < 8 else [29, 37, 53]


def odd_values(name, value):
    """As in overrides_test.cc."""
    if isinstance(value, float):
        return [0.75, -1.5]
    if isinstance(value, list):
        each = [odd_integers("", item) for item in value]
        return [[odd[i % len(odd)] for odd in each] for i in range(3)]
    return odd_integers(name, value)


def reason_of(folder, record, overrides):
    """Why the module does not run at these sizes; None where it does."""
    try:
        module, _ = generate.load_module(folder, record["task"], record["vars"], overrides)
        model = generate.build(module)
        arguments = [
            argument if torch.is_tensor(argument) and not argument.is_floating_point()
            else torch.rand(argument.shape) if torch.is_tensor(argument) else argument
            for argument in module.get_inputs()
        ]  # fmt: skip
        with torch.no_grad():
            outputs = model(*arguments)
        outputs = outputs if isinstance(outputs, (tuple, list)) else [outputs]
        if len(outputs) != len(record["outputs"]):
            return f"{len(outputs)} outputs"
        if any(output.numel() == 0 for output in outputs):
            return "the output is empty"
    except Exception as error:
        text = str(error).strip().splitlines()
        return text[0][:100] if text else type(error).__name__
    return None


def lines_of(work):
    folder, record = work
    torch.set_num_threads(1)
    lines = []
    for name, value in record["vars"].items():
        for odd in odd_values(name, value):
            reason = None if odd == value else reason_of(folder, record, {name: odd})
            if reason is not None:
                text = str(odd).replace(" ", "")
                lines.append(f"{record['task']} {name}={text} # {reason}")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kernelbench", required=True, help="a checkout of KernelBench")
    parser.add_argument("--base", required=True, help="a golden file: .json or .json.zst")
    parser.add_argument("--task", default="", help="1/19,2/* for some; all without it")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    # Only shapes matter here, and the initial weights of large networks take their time.
    for name in ("kaiming_uniform_", "kaiming_normal_", "xavier_uniform_", "uniform_", "normal_",
                 "trunc_normal_"):  # fmt: skip
        setattr(torch.nn.init, name, lambda tensor, *_, **__: tensor)
    wants = generate.selected(options.task)
    work = [(options.kernelbench, r) for r in generate.read(options.base)["tasks"]
            if wants(r["task"])]  # fmt: skip
    print("# Sizes at which KernelBench's own modules cannot run, and why; made by refusals.py.")
    with multiprocessing.Pool(options.jobs) as pool:
        for lines in pool.imap(lines_of, work):
            for line in lines:
                print(line, flush=True)


if __name__ == "__main__":
    main()
