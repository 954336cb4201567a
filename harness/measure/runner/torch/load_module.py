# Put in front of driver.py and precompile.py.
import hashlib
import os
import sys
import types


def load_module(source, file):
    """Executes it as a module that lies in a file, as Triton asks for the text of its functions."""
    source = source.lstrip("\ufeff")  # A byte order mark, which Python skips in files only.
    if "cpp_extension" in source:
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
    was made. (ninja alone would build again what was made in a folder of another name.)"""
    from torch.utils import cpp_extension

    function = "_write_ninja_file_and_build_library"
    build = getattr(cpp_extension, function, None)
    if build is None:
        return

    def build_once(*arguments, **named):
        if named.get("with_cuda") and not os.environ.get("TORCH_CUDA_ARCH_LIST"):
            raise NoCuda("its module compiles CUDA code, and this device has no CUDA")
        folder, name = named.get("build_directory"), named.get("name")
        if arguments or folder is None or name is None:
            return build(*arguments, **named)
        call = what_is_built(named)
        library, note = (os.path.join(folder, name + end) for end in (".so", ".made_by"))
        if os.path.exists(library) and text_of(note) == call:
            return None
        result = build(**named)
        with open(note, "w") as file:
            file.write(call)
        return result

    setattr(cpp_extension, function, build_once)


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


