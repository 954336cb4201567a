#!/usr/bin/python3
"""Writes src/kbench/options.py anew, by the lists in kbench/question.h as a built library has them:

    libkbench/python/make_options.py build/release/harness/frontends/capi/libkbench.so
"""

import ctypes
import json
import os
import sys
import textwrap

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "src")
OPTIONS = os.path.join(SOURCES, "kbench", "options.py")
PARTS = {
    "rule": ("Rule", "What makes a candidate pass, and how it is run."),
    "plan": ("Plan", "When a measurement stops."),
    "limits": ("Limits", "What a candidate may use."),
}
TYPES = {"string": "str", "number": "float", "integer": "int", "boolean": "bool",
         "array": "Sequence[float]", "object": "Mapping[str, Variable]"}  # fmt: skip
HEAD = '''"""How candidates are judged: written by make_options.py, by the lists in kbench/question.h.

What is None is left to kbench."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence

from .records import Variable, without_none
'''
TAIL = '''
    def to_json(self) -> dict[str, Any]:
        """What is set."""
        return without_none(dataclasses.asdict(self))
'''
OWN = {
    "device": ("str", 'An index, part of a name, "cpu", or "auto": the first GPU, else CPU'),
    "program": ("str", "The kbench program; None: that of the library's installation"),
}
RECORDED = {
    "recorded": ("Mapping[str, str]", '{"file": ..., "column": ...}: times that speedups are against')
}


def said(text):
    """A docstring below a field."""
    if not text:
        return []
    lines = textwrap.wrap(f'"""{text}."""', 96)
    return ["    " + line for line in lines]


def field(name, kind, text):
    return [f"    {name}: Optional[{kind}] = None", *said(text)]


def fields(properties):
    lines = []
    for name, schema in properties.items():
        lines += field(name, TYPES[schema.get("type", "string")], schema.get("description", ""))
    return lines


def text_of(schema):
    """The module."""
    properties = {name: each for name, each in schema["properties"].items() if name != "check"}
    lines = [HEAD]
    for name, (title, about) in PARTS.items():
        part = fields(properties[name]["properties"])
        lines += ["", "@dataclass(frozen=True)", f"class {title}:", f'    """{about}"""', "", *part, ""]
    lines += ["", "@dataclass(frozen=True)", "class Options:", '    """All of it."""', ""]
    for name, (kind, about) in OWN.items():
        lines += field(name, kind, about)
    for name, each in properties.items():
        if name in PARTS:
            lines.append(f"    {name}: {PARTS[name][0]} = {PARTS[name][0]}()")
        else:
            lines += fields({name: each})
    for name, (kind, about) in RECORDED.items():
        lines += field(name, kind, about)
    return "\n".join(lines) + "\n" + TAIL


def main():
    library, answer = ctypes.CDLL(sys.argv[1]), ctypes.c_char_p()
    status = library.kbench_question_schema(b"{}", ctypes.byref(answer))
    if status != 0 or answer.value is None:
        sys.exit(f"no schema: status {status}")
    text = text_of(json.loads(answer.value))
    with open(OPTIONS, "w") as file:
        file.write(text)


if __name__ == "__main__":
    main()
