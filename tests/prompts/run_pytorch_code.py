"""Runs programs of pytorch_module() in float64, one after another.

On standard input comes a line for each: its folder, with program.py and, in the folders `input` and
`parameter`, the tensors as NAME.npy. The outputs are written there as 0.npy, 1.npy and so on; then
a line is written to descriptor 3: "done", or what went wrong.
"""

import inspect
import os
import sys

import numpy
import torch


def tensors(folder):
    named = {}
    for file in os.listdir(folder):
        array = numpy.load(os.path.join(folder, file), mmap_mode="r")
        array = numpy.array(array, numpy.float64 if array.dtype == numpy.float32 else array.dtype)
        named[file.removesuffix(".npy")] = torch.from_numpy(array)
    return named


def run(folder):
    path = os.path.join(folder, "program.py")
    module = {}
    with open(path, encoding="utf-8") as file:
        exec(compile(file.read(), path, "exec"), module)
    given = tensors(os.path.join(folder, "input"))
    weights = tensors(os.path.join(folder, "parameter"))
    model = module["ModelNew"]().double()
    own = model.parameters_by_name()
    if own.keys() != weights.keys():
        raise KeyError(f"its parameters are {sorted(own)}")
    for name, weight in weights.items():
        own[name].copy_(weight)
    names = inspect.signature(module["forward"]).parameters
    outputs = model(*(given[name] for name in names if name in given))
    if isinstance(outputs, torch.Tensor):
        outputs = (outputs,)
    for i, output in enumerate(outputs):
        numpy.save(os.path.join(folder, f"{i}.npy"), output.contiguous().numpy())


def main():
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    with os.fdopen(3, "w") as answers:
        for line in sys.stdin:
            try:
                run(line.rstrip("\n"))
                answer = "done"
            except Exception as error:
                place = error.__traceback__
                while place.tb_next and "program.py" not in place.tb_frame.f_code.co_filename:
                    place = place.tb_next
                answer = f"line {place.tb_lineno}: {type(error).__name__}: {error}"
            answers.write(" ".join(answer.split()) + "\n")
            answers.flush()


main()
