"""What the reference shows of the package: real signatures, and links in docstrings.

A measure's source is a function of a table; its public signature is made by a decorator, and so
read from the imported object.  Names of the library in docstrings become links.
"""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

import griffe

import quotakernels

FAMILIES = (quotakernels.results, quotakernels.states, quotakernels.inference)
FAMILIES += (quotakernels.budgets, quotakernels.charts, quotakernels.tables)
FAMILIES += (quotakernels.decisions, quotakernels.screening, quotakernels.uplift, quotakernels)
NAMES = {name: f"{module.__name__}.{name}" for module in FAMILIES for name in module.__all__}
"""The path of every public name in the reference: at the top, or else in its family."""
KEY = re.compile(r"\[([A-Z]{2}|[A-Z][\w ]* \d{4})\]")
"""A work in the bibliography, where it is a heading."""
CODE = re.compile(r"(?<![`\[])`(\w+)`(?![`\]])")
SEE_ALSO = re.compile(r"^See Also\n-+\n((?:[^\n]+\n?)+)", re.MULTILINE)
AS_WRITTEN = ("overload", "public", "forwarding")
"""Decorators that leave the signature as the source has it."""
TYPED = ("Attributes", "Parameters", "Returns")
TOGETHER = re.compile(r"^(\w+(?:, \w+)+) : (.*)\n((?:    .*\n)*)", re.MULTILINE)
ITEM = re.compile(r"^(\w+(?:, \w+)*)(?: : (.*))?$")


def reference(name: str) -> str:
    """The name as a link to its entry."""
    return f"[`{name}`][{NAMES[name]}]" if name in NAMES else f"`{name}`"


def items(found: re.Match[str]) -> str:
    """The lines `name : what it is` of a section as a list."""
    lines = []
    for line in found[1].splitlines():
        item = ITEM.match(line)
        if item is None:
            lines.append(f"  {line.strip()}")
            continue
        names = ", ".join(map(reference, item[1].split(", ")))
        lines.append(f"- {names}" + (f": {item[2]}" if item[2] else ""))
    return "See Also\n--------\n" + "\n".join(lines) + "\n"


def with_links(prose: str, own: str) -> str:
    """Names as links, but for the own one; those in the types of parameters and results as text."""
    lines = prose.splitlines()
    section, found = "", []
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if after and set(after) == {"-"}:
            section = line
        if section in TYPED and line[:1].strip():
            found.append(CODE.sub(r"\1", line))
        else:
            found.append(CODE.sub(lambda x: x[0] if x[1] == own else reference(x[1]), line))
    return "\n".join(found) + "\n"


def cited(found: re.Match[str]) -> str:
    """The key of a work as a link to it."""
    return rf"[\[{found[1]}\]][{found[1].lower().replace(' ', '-')}]"


def apart(found: re.Match[str]) -> str:
    """Parameters described together as entries of their own, each with its own default."""
    first, *others = found[1].split(", ")
    rest = (f"{name} : {found[2]}\n    See `{first}`.\n" for name in others)
    return f"{first} : {found[2]}\n{found[3]}" + "".join(rest)


def linked(text: str, own: str) -> str:
    """A docstring whose names of the library are links, but for its own and those in examples."""
    prose, heading, examples = text.partition("Examples\n--------")
    before, section, after = prose.partition("Parameters\n----------\n")
    given, returns, rest = after.partition("Returns\n-------\n")
    prose = before + section + TOGETHER.sub(apart, given) + returns + rest
    prose = prose.replace("shape (", "shape\N{NO-BREAK SPACE}(")  # else read as a call
    prose = KEY.sub(cited, with_links(SEE_ALSO.sub(items, prose), own))
    return re.sub(r"(?<=\w)\*\*", r"\*\*", prose) + heading + examples


def parameters(function: Any) -> griffe.Parameters:
    """Those of the signature that callers meet."""
    return griffe.Parameters(
        *(
            griffe.Parameter(
                x.name,
                kind=griffe.ParameterKind[x.kind.name.lower()],
                default=None if x.default is x.empty else repr(x.default),
            )
            for x in inspect.signature(function).parameters.values()
        )
    )


class Signatures(griffe.Extension):
    """Signatures and links of all that is loaded."""

    def on_function_instance(self, *, func: griffe.Function, **_: Any) -> None:
        """Take the signature that a decorator gives."""
        made = any(str(x.value).partition("(")[0] not in AS_WRITTEN for x in func.decorators)
        if made and func.parent is not None and func.parent.is_module:
            module = importlib.import_module(func.parent.path)
            func.parameters = parameters(getattr(module, func.name))

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Link the names in the docstring."""
        if obj.docstring is not None:
            obj.docstring.value = linked(obj.docstring.value, obj.name)
