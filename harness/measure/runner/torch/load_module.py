# Put in front of driver.py and precompile.py.
import contextlib
import glob
import hashlib
import os
import re
import signal
import sys
import types

WAYS = {}  # An extension's name -> how it was built
FAILED = {}  # Of those that do not compile the log.
BUILD_ELSEWHERE = [None]  # If set, has what was not made before made by another process.


def load_module(source, file):
    """Executes it as a module that lies in a file, as Triton asks for the text of its functions."""
    source = source.lstrip("\ufeff")  # A byte order mark, which Python skips in files only.
    if "cpp_extension" in source:
        remove_locks()
        build_extensions_once()
    module = types.ModuleType("model_new")
    module.__file__ = file
    sys.modules["model_new"] = module
    with open(file, "w") as copy:
        copy.write(source)
    exec(compile(source, file, "exec"), module.__dict__)
    return module.__dict__


class NoCuda(Exception):
    """A module compiles CUDA code where there is no CUDA."""


def build_extensions_once():
    """load_inline() and load() take the library that the same call made in another process, where
    it lies in the folder that they would build in. Beside it is a file that says by what call it
    was made, or what the compiler said of it: no call is compiled twice in vain. (ninja alone would
    build again what was made in a folder of another name.)"""
    from torch.utils import cpp_extension

    function = "_write_ninja_file_and_build_library"
    build = getattr(cpp_extension, function, None)
    if build is None or hasattr(build, "of_kbench"):
        return
    load_bridge()  # noqa: F821  quick_build.py's, as the next one
    ways = []
    build_quickly_first(cpp_extension, ways)  # noqa: F821

    def build_once(*arguments, **named):
        if named.get("with_cuda") and not os.environ.get("TORCH_CUDA_ARCH_LIST"):
            raise NoCuda("its module compiles CUDA code, and this device has no CUDA")
        folder, name = named.get("build_directory"), named.get("name")
        if arguments or folder is None or name is None:
            return build(*arguments, **named)
        call = what_is_built(named)
        library, note, failed = (os.path.join(folder, name + end)
                                 for end in (".so", ".made_by", ".failed"))  # fmt: skip
        hash_and_way = text_of(note).split("\n")
        if os.path.exists(library) and hash_and_way[0] == call:
            WAYS[name] = "".join(hash_and_way[1:])
            return None
        failed_call, _, log = text_of(failed).partition("\n")
        if failed_call == call:
            raise RuntimeError(log)
        if BUILD_ELSEWHERE[0]:
            BUILD_ELSEWHERE[0](named)
            return None
        ways.clear()
        try:
            result = build(**named)
        except BaseException as error:
            FAILED[name] = str(error)
            if not was_killed(error):
                with contextlib.suppress(OSError), open(failed, "w") as file:
                    file.write(f"{call}\n{error}")
            raise
        WAYS[name] = "".join(ways)
        with open(note, "w") as file:
            file.write(call + "\n" + WAYS[name])
        return result

    build_once.of_kbench = True
    setattr(cpp_extension, function, build_once)


# As gcc, nvcc and clang say that a program of theirs was killed.
KILLED = re.compile(r"(Killed|Terminated) signal terminated program|died due to signal (9|15)\b"
                    r"|unable to execute command: (Killed|Terminated)")  # fmt: skip


def was_killed(error):
    """Whether a build failed by what is no fault of its sources."""
    ninja = getattr(error.__cause__, "returncode", 0)
    return ninja in (-signal.SIGKILL, -signal.SIGTERM) or KILLED.search(str(error)) is not None


def remove_locks():
    """Of builders that were killed, for which PyTorch would wait forever. No other runs now."""
    folder = os.environ.get("TORCH_EXTENSIONS_DIR", "none")
    for lock in glob.glob(os.path.join(folder, "*", "lock")):
        with contextlib.suppress(OSError):
            os.remove(lock)


def what_is_built(named):
    """A hash of the sources and of all else that the call says but for its folder."""
    said = {key: value for key, value in named.items() if key not in ("sources", "verbose")}
    texts = [repr(sorted(said.items())).replace(named["build_directory"], "")]
    texts += [text_of(source) for source in named.get("sources", ())]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def text_of(path):
    """Empty if it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


