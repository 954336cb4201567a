"""A Triton kernel to PTX, ahead of time, in each of its configurations: a list of requests as JSON on
standard input, as many answers as JSON on descriptor 3. Runs in a process of its own, which kbench locks in and ends before anything is
measured; the machine code that Triton assembles on the way is not used."""

import importlib.util
import inspect
import json
import os
import sys
import tempfile
import traceback


class Refusal(Exception):
    """What is wrong with the candidate, and the verdict that it gets."""

    def __init__(self, verdict, message):
        super().__init__(message)
        self.verdict = verdict


def load(path):
    spec = importlib.util.spec_from_file_location("candidate", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def find_kernel(module, entry, jit_type):
    if entry:
        kernel = getattr(module, entry, None)
        if not isinstance(kernel, jit_type):
            raise Refusal("invalid_candidate", f"has no @triton.jit function '{entry}'")
        return kernel
    own = [v for v in vars(module).values()
           if isinstance(v, jit_type) and getattr(v, "__module__", "candidate") == "candidate"]
    if len(own) != 1:
        raise Refusal("invalid_candidate",
                      f"has {len(own)} @triton.jit functions: 'entry' says which is the kernel")
    return own[0]


def specialize(kernel, request):
    """(signature, constants, hints, which of the arguments are parameters still), by what is known
    of the arguments: as Triton itself specializes a kernel that it launches."""
    signature, constants, hints, kept = {}, {}, {}, []
    arguments = iter(request["arguments"])
    for index, parameter in enumerate(kernel.params):
        name = parameter.name
        if parameter.is_constexpr:
            if name in request["constants"]:
                constants[name] = request["constants"][name]
            elif parameter.default is not inspect.Parameter.empty:
                constants[name] = parameter.default
            else:
                raise Refusal("invalid_candidate", f"has the constant '{name}', which no constants give")
            signature[name] = "constexpr"
            continue
        argument = next(arguments, None)
        if argument is None:
            raise Refusal("invalid_candidate",
                          f"takes more parameters than the {len(request['arguments'])} that its step gives")
        if argument.get("one"):
            constants[name] = 1
            signature[name] = "constexpr"
            kept.append(False)
            continue
        signature[name] = argument["type"]
        if argument.get("by16"):
            hints[(index,)] = [["tt.divisibility", 16]]
        kept.append(True)
    if next(arguments, None) is not None:
        raise Refusal("invalid_candidate",
                      f"takes {len(kept)} parameters, but its step gives {len(request['arguments'])}")
    return signature, constants, hints, kept


def prepare(request):
    """The kernel, with Triton imported and the candidate's module run."""
    try:
        import triton.backends.compiler
        import triton.compiler
        from triton.runtime.jit import JITFunction
    except ImportError as error:
        raise Refusal("unsupported", f"Triton cannot be imported by {sys.executable}: {error}") from error
    return find_kernel(load(request["path"]), request["entry"], JITFunction)


def translate(kernel, request):
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    signature, constants, hints, kept = specialize(kernel, request)
    source = ASTSource(fn=kernel, signature=signature, constexprs=constants, attrs=hints)
    compiled = triton.compile(source, target=GPUTarget("cuda", request["capability"], 32),
                              options={"num_warps": request["num_warps"],
                                       "num_stages": request["num_stages"]})
    metadata = compiled.metadata
    return {"ptx": compiled.asm["ptx"], "entry": metadata.name, "shared": metadata.shared,
            "num_warps": metadata.num_warps, "kept": kept, "version": triton.__version__,
            "scratch": getattr(metadata, "global_scratch_size", 0) or 0}


def place(error, path):
    """The line of the candidate's file that the error comes from, or 0."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if os.path.abspath(frame.filename) == os.path.abspath(path):
            return frame.lineno
    # Triton counts from the function's first line.
    node, function = getattr(error, "node", None), getattr(error, "src", None)
    if node is not None and function is not None:
        try:
            whole = open(path).read()
            start = whole.find(function.strip().split("\n")[0])
            return whole[:start].count("\n") + node.lineno if start >= 0 else node.lineno
        except OSError:
            return 0
    return error.lineno if isinstance(error, SyntaxError) and error.lineno else 0


def guarded(path, work, *arguments):
    """(what it returns, None), or (None, the answer that says why it failed)."""
    try:
        return work(*arguments), None
    except Refusal as refusal:
        return None, {"verdict": refusal.verdict, "message": str(refusal), "line": 0}
    except BaseException as error:  # of the candidate's own code: SystemExit too
        message = str(error).strip() or repr(error)
        return None, {"verdict": "compile_error", "message": f"{type(error).__name__}: {message}",
                      "line": place(error, path)}


def answer_to(kernel, request):
    result, failure = guarded(request["path"], translate, kernel, request)
    return failure or result


def in_processes(kernel, requests):
    """An answer to each, from a process each, as many at a time as there are processors."""
    folder, running, answers = tempfile.mkdtemp(), {}, {}

    def wait():
        index = running.pop(os.wait()[0])
        try:
            with open(os.path.join(folder, str(index))) as file:
                answers[index] = json.load(file)
        except (OSError, ValueError):
            answers[index] = {"verdict": "compile_error", "line": 0,
                              "message": "the translation ended without an answer"}

    for index, request in enumerate(requests):
        if len(running) >= len(os.sched_getaffinity(0)):
            wait()
        child = os.fork()
        if child == 0:
            with open(os.path.join(folder, str(index)), "w") as file:
                json.dump(answer_to(kernel, request), file)
            os._exit(0)
        running[child] = index
    while running:
        wait()
    return [answers[index] for index in range(len(requests))]


def main():
    # What the candidate's module prints is not an answer.
    answer = os.fdopen(3, "w")
    requests = json.load(sys.stdin)
    kernel, failure = guarded(requests[0]["path"], prepare, requests[0])
    if failure:
        results = [failure] * len(requests)
    elif len(requests) == 1:
        results = [answer_to(kernel, requests[0])]
    else:
        results = in_processes(kernel, requests)
    json.dump(results, answer)
    answer.flush()
    os._exit(0)


main()
