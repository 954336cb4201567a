"""A Triton kernel to PTX, ahead of time: a request as JSON on standard input, the answer as JSON on
descriptor 3. Runs in a process of its own, which kbench locks in and ends before anything is
measured; the machine code that Triton assembles on the way is not used."""

import importlib.util
import inspect
import json
import os
import sys
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


def answer_to(request):
    try:
        return translate(prepare(request), request)
    except Refusal as refusal:
        return {"verdict": refusal.verdict, "message": str(refusal), "line": 0}
    except BaseException as error:  # of the candidate's own code: SystemExit too
        message = str(error).strip() or repr(error)
        return {"verdict": "compile_error", "message": f"{type(error).__name__}: {message}",
                "line": place(error, request["path"])}


def main():
    # What the candidate's module prints is not an answer.
    answer = os.fdopen(3, "w")
    json.dump(answer_to(json.load(sys.stdin)), answer)
    answer.flush()
    os._exit(0)


main()
