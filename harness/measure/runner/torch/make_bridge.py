"""Makes the library between extensions that are compiled with kbench's headers and the installed
PyTorch: of headers/bridge.cc, against PyTorch's own. Answers with its bytes, else with JSON."""

import json
import os
import subprocess
import sys
import sysconfig


def made(request):
    for name, text in request.items():
        with open(name, "w") as file:
            file.write(text)
    try:
        import torch
        from torch.utils import cpp_extension
    except Exception as error:
        return {"missing": f"PyTorch cannot be imported: {error}"}
    cuda = cpp_extension.CUDA_HOME if torch.version.cuda else None
    try:  # It takes whether there is CUDA, and from PyTorch 2.6 on the kind of device.
        folders = cpp_extension.include_paths("cuda") if cuda else cpp_extension.include_paths()
    except OSError as error:
        return {"missing": str(error)}
    if not any(os.path.exists(os.path.join(each, "ATen", "ATen.h")) for each in folders):
        return {"missing": "PyTorch's headers are not there (Debian: libtorch-dev)"}
    if not any(os.path.exists(os.path.join(each, "pybind11", "pybind11.h"))
               for each in (*folders, "/usr/include", "/usr/local/include")):  # fmt: skip
        return {"missing": "pybind11's headers are not there (Debian: pybind11-dev)"}
    if not os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h")):
        return {"missing": "Python's headers are not there (Debian: python3-dev)"}
    folders.append(sysconfig.get_path("include"))
    flags = [flag for each in folders for flag in ("-isystem", each)]
    flags.append(f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}")
    libraries = ["torch_python", "torch_cpu", "torch", "c10"]
    if cuda:
        flags.append("-DKBENCH_CUDA")
        libraries += ["torch_cuda", "c10_cuda", "cudart"]
    folder = os.path.join(os.path.dirname(torch.__file__), "lib")
    of_cuda = [f"-L{os.path.join(cuda, each)}" for each in ("lib64", "lib")] if cuda else []
    library = "libkbench_torch.so"
    command = [os.environ.get("CXX", "c++"), "-O1", "-fPIC", "-shared", "-w", *flags, "bridge.cc",
               "-o", library, f"-Wl,-soname,{library}", f"-L{folder}", *of_cuda,
               *(f"-l{each}" for each in libraries)]  # fmt: skip
    for standard in ("-std=c++17", "-std=c++20"):  # The latter may be what PyTorch's headers take.
        try:
            ran = subprocess.run(command + [standard], stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True)  # fmt: skip
        except OSError as error:
            return {"missing": f"there is no C++ compiler: {error}"}
        if ran.returncode <= 0 or "signal" in ran.stdout:
            break
    if ran.returncode != 0:
        lines = ran.stdout.splitlines()
        error = next((line for line in lines if "error" in line), ran.stdout[-300:])
        # Not for good where a compiler was killed.
        return {"missing": "its library does not compile against this PyTorch: " + error[:300],
                "for_good": ran.returncode > 0 and "signal" not in ran.stdout}  # fmt: skip
    with open(library, "rb") as file:
        return file.read()


answer = made(json.load(sys.stdin))
with os.fdopen(3, "wb") as to:
    to.write(answer if isinstance(answer, bytes) else json.dumps(answer).encode())
