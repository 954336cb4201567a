# Put in front of driver.py and precompile.py, with HEADERS, the texts of the files in headers/.
import contextlib
import ctypes
import os
import re
import subprocess

BRIDGE = os.path.join(os.getcwd(), "bridge")  # Where kbench has put its library.
OWN_HEADERS = os.path.join(os.getcwd(), "headers")

NOT_THERE = "its library is not there"

# What a file includes of PyTorch, and which of our headers has it.
TENSORS = """ATen/ATen.h ATen/AccumulateType.h ATen/DeviceGuard.h ATen/Dispatch.h ATen/Functions.h
    ATen/Tensor.h ATen/TensorUtils.h ATen/core/Tensor.h ATen/ceil_div.h c10/core/Device.h
    c10/core/DeviceGuard.h c10/core/ScalarType.h c10/core/TensorOptions.h c10/macros/Macros.h
    c10/util/ArrayRef.h c10/util/BFloat16.h c10/util/Exception.h c10/util/Half.h
    c10/util/Optional.h torch/all.h torch/script.h torch/types.h"""
BOUND = "torch/extension.h torch/python.h torch/torch.h pybind11/pybind11.h pybind11/stl.h"
CUDA = """ATen/cuda/CUDAContext.h ATen/cuda/CUDABlas.h ATen/cuda/Exceptions.h
    c10/cuda/CUDAException.h c10/cuda/CUDAFunctions.h c10/cuda/CUDAGuard.h c10/cuda/CUDAStream.h"""
INCLUDED = {"kbench_torch.h": TENSORS, "kbench_bind.h": BOUND, "kbench_cuda.h": CUDA}

# Names of the standard library that kbench_torch.h brings in any case.
ALWAYS = set("""
    abs array back begin cbrt ceil cos decay_t enable_if_t end erf erfc exception exp exp2 expf
    fabs float_t floor floorf fmax fmin fmod forward get get_if hypot in_place initializer_list
    int16_t int32_t int64_t int8_t is_floating_point is_floating_point_v is_integral is_same
    is_same_v isfinite isinf isnan ldexp log log10 log1p log2 logf make_optional make_pair
    make_tuple max min move nullopt nullptr_t numeric_limits optional out_of_range pair pow
    ptrdiff_t rint round invalid_argument runtime_error logic_error sin size_t sqrt sqrtf string
    swap tan tanh tanhf tie to_string tuple uint16_t uint32_t uint64_t uint8_t unique_ptr
    make_unique shared_ptr make_shared vector conditional_t nearbyint fma expm1 copysign trunc
    snprintf memcpy memset
""".split())  # fmt: skip


def write_headers():
    if os.path.exists(OWN_HEADERS):
        return
    for name, text in HEADERS.items():  # noqa: F821
        write_text(os.path.join(OWN_HEADERS, name), text)
    for ours, names in INCLUDED.items():
        for name in names.split():
            write_text(os.path.join(OWN_HEADERS, name), f'#include "{ours}"\n')


def write_text(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def bridge():
    """The path of kbench's library, and why there is none."""
    library = os.path.join(BRIDGE, "libkbench_torch.so")
    if os.path.exists(library):
        return library, ""
    return None, text_of(os.path.join(BRIDGE, "missing")) or NOT_THERE  # noqa: F821


def load_bridge():
    """Extensions that were built quickly ask for it by its name alone."""
    library, _ = bridge()
    if library:
        return ctypes.CDLL(library)


@contextlib.contextmanager
def launches_on_current_stream():
    """Kernels that extensions launch on CUDA's default stream go to PyTorch's current one, as far as
    they were built quickly: a graph of a call then holds them."""
    switch = getattr(load_bridge(), "kb_launch_on_current_stream", None)
    if switch:
        switch(True)
    try:
        yield
    finally:
        if switch:
            switch(False)


def quick_ninja(text, library):
    """PyTorch's build file for our headers. All else stays as PyTorch has it."""
    import torch

    folder = re.escape(os.path.join(os.path.dirname(torch.__file__), "include"))
    text = re.sub(rf"-isystem {folder}\S*", "", text)
    sources = re.findall(r"^build \S+: (?:cuda_)?compile (.*)$", text, re.M)
    texts = [text_of(each.replace("$ ", " ").replace("$:", ":")) for each in sources]  # noqa: F821
    named = set(re.findall(r"std::(\w+)", "".join(texts)))
    flags = ["-isystem", OWN_HEADERS]
    if named - ALWAYS or "using namespace std" in "".join(texts):
        flags.append("-DKBENCH_STD")
    for word, flag in (("half|bf16|bfloat", "HALF"), ("cublas", "CUBLAS"), ("py::|PYBIND", "BIND")):
        where = texts if flag != "BIND" else [t for s, t in zip(sources, texts) if s.endswith("cu")]
        if re.search(word, "".join(where), re.I):
            flags.append("-DKBENCH_" + flag)
    ahead = " ".join(flags) + " "
    text = re.sub(r"^((?:cuda_)?cflags = )", lambda to: to[1] + ahead, text, flags=re.M)
    text = text.replace("-std=c++14", "-std=c++17")
    # The libraries of PyTorch come with ours, and take longer to link than all else.
    text = re.sub(r" -l(c10|torch|torch_cpu|torch_python|c10_cuda|torch_cuda\w*)\b", "", text)
    if re.search(r"^build .*: cuda_compile ", text, re.M):  # bridge.cc says why.
        library += " -Wl,--wrap=cudaLaunchKernel -Wl,--wrap=__cudaLaunchKernel"
    text = re.sub(r"^(ldflags = .*)$", lambda to: to[1] + " " + library, text, flags=re.M)
    # Nothing is built a second time, so that no compiler has to list what it read.
    text = re.sub(r"--generate-dependencies-with-compile --dependency-output \S+", "", text)
    text = re.sub(r"-MMD -MF \S+", "", text)
    return re.sub(r"^  (depfile|deps) = .*\n", "", text, flags=re.M)


class Hopeless(Exception):
    """It does not compile with PyTorch's own headers either. Has the compilers' log."""


# Faults of an extension that no header mends: its module is made twice, by load_inline() and by
# itself; a kernel takes too much memory; a vector has no such part.
NO_HEADERS_FAULT = re.compile(r"redefinition of \S*PyObject\s?\* PyInit_"
                              r"|\bptxas error\s*: Entry function \S+ uses too much "
                              r'|class "u?(?:char|short|int|long|longlong|float|double)[1-4]" has no'
                              r" member")  # fmt: skip
BOUND_LINE = re.compile(r'm\.def\("(\w+)", torch::wrap_pybind_function\((\w+)\), "\w+"\);')


def is_hopeless(log, main):
    """`main`: main.cpp's text, which load_inline() makes. It may bind a function that the rest of
    it never names: PyTorch's headers declare none outside of their namespaces."""
    if NO_HEADERS_FAULT.search(log):
        return True
    undeclared = set(re.findall(r"error: .(\w+). was not declared in this scope", log))
    bound = {name for each in BOUND_LINE.findall(main) for name in each}
    rest = set(re.findall(r"\w+", BOUND_LINE.sub("", main)))
    return "using" not in rest and bool((undeclared & bound) - rest)


def build_quickly(folder, workers):
    """Why it could not be; empty if it is built."""
    if HEADERS is None:  # noqa: F821
        return "as asked for"
    library, missing = bridge()
    if library is None:
        return missing
    write_headers()
    path = os.path.join(folder, "quick.ninja")
    text = quick_ninja(text_of(os.path.join(folder, "build.ninja")), library)  # noqa: F821
    write_text(path, text)
    command = ["ninja", "-f", path] + (["-j", str(workers)] if workers else [])
    run = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True, errors="replace")  # fmt: skip
    if run.returncode != 0:
        if is_hopeless(run.stdout, text_of(os.path.join(folder, "main.cpp"))):  # noqa: F821
            raise Hopeless(run.stdout)
        error = re.search(r".*\berror\b:? .*|.*undefined reference.*", run.stdout)
        return error[0].strip()[:200] if error else "it does not compile with kbench's"
    built = re.search(r"^default (.*)$", text, re.M)
    return calls_of_no_operator(os.path.join(folder, built[1]), library) if built else "no library"


def calls_of_no_operator(library, of_ours):
    """What it calls that this PyTorch has not, found in a process that loads it; may be empty."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            ours = ctypes.CDLL(of_ours)
            ctypes.CDLL(library)
            ours.kb_missing.restype = ctypes.c_char_p
            os.write(write, b"+" + ours.kb_missing()[:200])
        except BaseException as error:
            os.write(write, b"+" + str(error).encode()[:200])
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answer:
        said = answer.read().decode(errors="replace")
    os.waitpid(child, 0)
    return said[1:] if said.startswith("+") else "its library cannot be loaded"


def need_bridge():
    """Ends this process, which builds ahead, where kbench has to make its library first."""
    if HEADERS is not None and bridge()[1] == NOT_THERE:  # noqa: F821
        with os.fdopen(3, "w") as answer:
            answer.write('{"error": "", "needs": "bridge"}')
        os._exit(0)


def build_quickly_first(cpp_extension, ways):
    """Of each build that PyTorch starts, the way is added to `ways`."""
    function = "_run_ninja_build"
    build = getattr(cpp_extension, function, None)
    if build is None:
        return

    def run(build_directory, verbose=False, *more, **named):
        need_bridge()
        workers = os.environ.get("MAX_JOBS", "")
        try:
            why = build_quickly(build_directory, workers if workers.isdigit() else "")
        except Hopeless as error:
            prefix = named.get("error_prefix") or "".join(more[:1]) or "Error building extension"
            raise RuntimeError(f"{prefix}: {error}") from None
        if why:
            # PyTorch's error has the compilers' log only where it does not print it.
            build(build_directory, False, *more, **named)
        ways.append("with PyTorch's own headers: " + why if why else "with kbench's headers")

    setattr(cpp_extension, function, run)
