"""What the wheel of one platform has inside beside the module: an installed kbench, and every shared
library that it needs and that a machine may lack, as auditwheel would take them.

A library of the system's gets a name of its own, with a hash of what is in it, so that it is never
taken for another one in the same process. Debian's tools are asked: ldd, readelf, patchelf, dpkg.
"""

from __future__ import annotations

import hashlib
import platform
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Dict, Iterator, Tuple

PLATFORM = f"manylinux_2_36_{platform.machine()}"
# By that platform's rules on every machine, and up to which version of their symbols.
_SYSTEM = re.compile(
    r"(ld-linux[-\w]*|linux-vdso|libc|libm|libdl|libpthread|librt|libresolv|libutil|libgcc_s|libstdc\+\+"
    r"|libz|libexpat)\.so(\.\d+)*"
)
_NEWEST = {"GLIBC": (2, 36), "GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13), "GCC": (12, 0, 0)}
_DEBIAN_DOCUMENTS = Path("/usr/share/doc")

Files = Dict[str, Tuple[bytes, bool]]


class PackagingError(Exception):
    """What was given is no kbench that a wheel can be made of."""


def _run(*command: object) -> str:
    words = [str(word) for word in command]
    try:
        ran = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    except FileNotFoundError:
        raise PackagingError(f"{words[0]} is not installed") from None
    if ran.returncode != 0:
        raise PackagingError(f"{' '.join(words)}: {ran.stderr.strip() or ran.returncode}")
    return ran.stdout


def _library(prefix: Path) -> Path:
    found = sorted(prefix.glob("lib*/libkbench.so.1")) + sorted(prefix.glob("lib/*/libkbench.so.1"))
    if not found:
        raise PackagingError(f"{prefix} has no libkbench.so.1 in lib: no installed kbench")
    return found[0]


def _program(prefix: Path) -> Path:
    program = prefix / "bin" / "kbench"
    if not program.is_file():
        raise PackagingError(f"{program} is not there: no installed kbench")
    return program


def _others(file: Path) -> dict[str, Path]:
    """Name -> place of each library that the file needs, also through others, and may be lacking."""
    found = {}
    for line in _run("ldd", file).splitlines():
        words = line.split()
        if len(words) < 3 or words[1] != "=>" or _SYSTEM.fullmatch(words[0]):
            continue
        if words[2] == "not":
            raise PackagingError(f"{file} needs {words[0]}, which is not here")
        found[words[0]] = Path(words[2]).resolve()
    return found


def _needed(file: Path) -> list[str]:
    return _run("patchelf", "--print-needed", file).split()


def _check_versions(file: Path) -> None:
    for name, version in re.findall(r"Name: ([A-Z]+)_([\d.]+)", _run("readelf", "-VW", file)):
        if name in _NEWEST and tuple(map(int, version.split("."))) > _NEWEST[name]:
            raise PackagingError(f"{file} needs {name}_{version}, too new for {PLATFORM}")


def _own_name(name: str, file: Path) -> str:
    digest = hashlib.sha256(file.read_bytes()).hexdigest()[:8]
    stem, rest = name.split(".so", 1)
    return f"{stem}-{digest}.so{rest}"


def _tree(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield path.relative_to(folder).as_posix(), path.read_bytes()


def bundled(prefix: Path, where: str) -> Files:
    """The installed kbench below `prefix`, to lie in the folder `where`."""
    program, library = _program(prefix), _library(prefix)
    others = {**_others(program), **_others(library)}
    names = {name: _own_name(name, file) for name, file in others.items()}
    sources = {"bin/kbench": program, "lib/libkbench.so.1": library.resolve()}
    sources.update({f"lib/{names[name]}": file for name, file in others.items()})
    files: Files = {}
    with tempfile.TemporaryDirectory() as scratch:
        for place, source in sources.items():
            file = Path(scratch) / Path(place).name
            shutil.copyfile(source, file)
            _check_versions(file)
            rpath = "$ORIGIN/../lib" if place == "bin/kbench" else "$ORIGIN"
            needed = [n for n in _needed(file) if n in names]
            # A call each: Debian 12's patchelf (0.14.3) mixes up the texts of several changes.
            if needed:
                pairs = [("--replace-needed", name, names[name]) for name in needed]
                _run("patchelf", *(word for pair in pairs for word in pair), file)
            if file.name in names.values():
                _run("patchelf", "--set-soname", file.name, file)
            _run("patchelf", "--set-rpath", rpath, file)
            files[f"{where}/{place}"] = (file.read_bytes(), place == "bin/kbench")
    for part in ("share/kbench", "share/doc/kbench"):
        for path, content in _tree(prefix / part):
            files[f"{where}/{part}/{path}"] = (content, False)
    return files


def _package_of(file: Path) -> str:
    """The Debian package that installed the file, which it may know by a path without /usr."""
    problem = ""
    for path in (str(file), str(file).replace("/usr/lib/", "/lib/", 1)):
        try:
            return _run("dpkg", "-S", path).split(":")[0]
        except PackagingError as e:
            problem = str(e)
    raise PackagingError(f"of which licence is {file}? {problem}")


def licences(prefix: Path, where: str) -> Files:
    """The texts for kbench, with what is linked into it, and for each library taken along."""
    texts = {"kbench": (prefix / "share/doc/kbench/copyright").read_bytes()}
    for file in {**_others(_program(prefix)), **_others(_library(prefix))}.values():
        package = _package_of(file)
        texts[package] = (_DEBIAN_DOCUMENTS / package / "copyright").read_bytes()
    named = re.findall(rb"/usr/share/common-licenses/([\w.+-]*\w)", b"\n".join(texts.values()))
    for name in {text.decode() for text in named}:
        path = Path("/usr/share/common-licenses") / name
        if path.is_file():
            texts[f"common-licenses/{name}"] = path.read_bytes()
    return {f"{where}/{name}{'' if '/' in name else '.txt'}": (text, False)
            for name, text in texts.items()}
