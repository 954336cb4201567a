"""Builds the C++ and CUDA extensions of a candidate's module, without a device: what load_inline()
makes is found again, compiled, when the module is loaded where it runs. With `build`, only that
one, which a driver asks for."""

import contextlib
import io
import json
import os
import re
import sys

# "main.cpp:3:5: error: ...", "cuda.cu(7): error: ..."
ERROR = re.compile(r"(?P<file>[^\s:()][^:()\n]*)"
                   r"(?::(?P<line>\d+)(?::(?P<column>\d+))?:|\((?P<at>\d+)\):)"
                   r" (?:fatal |catastrophic )?error(?: #[\w-]+)?: (?P<message>.*)")  # fmt: skip
MOST_ERRORS = 10


def errors_in(log, candidate):
    """Of the compilers' log, as places in the candidate's text where its lines are found there."""
    found = []
    for each in ERROR.finditer(log):
        path, line = each["file"], int(each["line"] or each["at"])
        lines = text_of(path).split("\n")  # noqa: F821  load_module.py's
        own = line_of(lines, line - 1, candidate.split("\n"))
        error = {"message": each["message"], "line": own or line, "column": int(each["column"] or 0),
                 "file": "" if own else os.path.basename(path)}  # fmt: skip
        if not own and 0 < line <= len(lines) and lines[line - 1].strip():
            error["message"] += ": " + lines[line - 1].strip()
        if error not in found:
            found.append(error)
    for line in re.findall(r"undefined reference to .*|.*ptxas (?:error|fatal) .*", log):
        found.append({"message": line.strip(), "line": 0, "column": 0, "file": ""})
    return found[:MOST_ERRORS]


def line_of(lines, at, candidate):
    """The number, from 1, of the line of the candidate's text that stands for lines[at]: the one
    with most of the same lines around it. 0 if there is none."""
    if not 0 <= at < len(lines) or not lines[at].strip():
        return 0
    best, number = 0, 0
    for i, line in enumerate(candidate):
        if lines[at].strip() not in line:
            continue
        same = 1
        for step in (-1, 1):
            k = step
            while (0 <= at + k < len(lines) and 0 <= i + k < len(candidate) and abs(k) < 20
                   and lines[at + k].strip() in candidate[i + k]):  # fmt: skip
                same, k = same + 1, k + step
        if same > best:
            best, number = same, i + 1
    return number


def make_model(request, names):
    """Many build their extension when they are made. Where nothing has memory, that costs none."""
    import torch

    variables = {name: tuple(value) if isinstance(value, list) else value
                 for name, value in request["variables"].items()}  # fmt: skip
    with torch.device("meta"):
        names["ModelNew"](*eval(request["init_inputs"], variables))


def build(request):
    """An extension that failed is in FAILED, also where the candidate went on without."""
    if request.get("build"):
        from torch.utils import cpp_extension

        build_extensions_once()  # noqa: F821  load_module.py's
        cpp_extension._write_ninja_file_and_build_library(**request["build"])
        return
    if not os.environ.get("TORCH_CUDA_ARCH_LIST"):
        return load_and_make(request)
    try:
        with cuda_seems_there():
            load_and_make(request)
    except Exception:
        if WAYS or FAILED:  # noqa: F821  load_module.py's
            raise
        load_and_make(request)  # It used the device that seemed to be there.


def load_and_make(request):
    names = load_module(request["source"], os.path.abspath("model_new.py"))  # noqa: F821
    builds = "init_inputs" in request and "cpp_extension" in request["source"]
    if builds and not (WAYS or FAILED):  # noqa: F821
        make_model(request, names)


@contextlib.contextmanager
def cuda_seems_there():
    """Many build their extension only where torch.cuda.is_available()."""
    import torch

    architecture = os.environ["TORCH_CUDA_ARCH_LIST"].split(".")
    capability = tuple(int(re.match(r"\d+", each)[0]) for each in architecture)
    seems = {"is_available": True, "device_count": 1, "current_device": 0,
             "get_device_capability": capability}  # fmt: skip
    meant = {name: getattr(torch.cuda, name) for name in seems}
    for name, value in seems.items():
        setattr(torch.cuda, name, lambda *_, value=value, **__: value)
    try:
        yield
    finally:
        for name, function in meant.items():
            setattr(torch.cuda, name, function)


request = json.load(sys.stdin)
said = {"error": ""}
try:
    import torch  # noqa: F401

    if "cpp_extension" in request["source"]:
        # It warns that no device is found, which none is meant to be.
        with contextlib.redirect_stderr(io.StringIO()):
            import torch.utils.cpp_extension  # noqa: F401
    build(request)
    raised = None
except BaseException as failure:
    raised = failure
text = f"{type(raised).__name__}: {raised}" if raised else ""
# All else may be for want of a device, and shows again where there is one.
if "building extension" in text or "Ninja" in text or "CUDA_HOME" in text:
    lines = text.splitlines()
    errors = [line for line in lines if "error" in line.lower()]
    said["error"] = "\n".join(errors[:20] + lines[-60:])[:8000]
    said["errors"] = errors_in(text, request["source"])
    if was_killed(raised):  # noqa: F821  load_module.py's
        said["killed"] = True
if WAYS:  # noqa: F821
    said["ways"] = WAYS  # noqa: F821
if FAILED and not said["error"]:  # noqa: F821
    failed = FAILED.items()  # noqa: F821
    said["failed"] = {name: errors_in(log, request["source"]) for name, log in failed}
with os.fdopen(3, "w") as answer:
    json.dump(said, answer)
