"""A drawing of Matplotlib as a part of a page: small, with names of its own, and text as text."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

from quotakernels._text import formatted
from quotakernels.report.keys import painted

_NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_COORDINATES = ("d", "points", "transform", "x", "y", "x1", "y1", "x2", "y2", "width", "height")
_SIZE = re.compile(r"[\d.]+px")
_NEEDLESS = ("metadata", "title")
MOVED = "moved-"
"""With the number of a model behind it the name of a line that follows its places."""


def inlined(drawing: str, prefix: str, label: str, per_place: float) -> str:
    """The <svg> element of a drawing for a page that holds several of them.

    Every id begins with the prefix, since ids are those of a whole page.  The label is what is
    read to those who do not see the drawing.  What draws no text loses its digits beyond a tenth
    of a point, and the fonts are left to the page.  Lines that a script moves keep the number of
    their model, and the drawing says how many points a place is.
    """
    root = ET.fromstring(drawing)
    for parent in list(root.iter()):
        for child in [x for x in parent if _plain(x.tag) in _NEEDLESS]:
            parent.remove(child)
    written = " ".join(x for element in root.iter() for x in element.attrib.values())
    used = set(_REFERENCE.findall(written)) | set(re.findall(r"(?:^|\s)#(\S+)", written))
    for element in root.iter():
        _rewrite(element, prefix, used)
    size = root.attrib["viewBox"]
    root.attrib.clear()
    root.attrib |= {"viewBox": size, "role": "img", "aria-label": label}
    root.attrib["data-per-place"] = formatted(per_place, ".6g")
    return ET.tostring(root, encoding="unicode")


def _plain(name: str) -> str:
    """A name without its namespace, which HTML's parser knows by itself."""
    return name.rpartition("}")[2]


def _rewrite(element: ET.Element, prefix: str, used: set[str]) -> None:
    element.tag = _plain(element.tag)
    if element.tag != "text" and element.text and not element.text.strip():
        element.text = None
    if element.tail and not element.tail.strip():
        element.tail = None
    attributes = {_plain(key): value for key, value in element.attrib.items()}
    element.attrib.clear()
    if (name := attributes.get("id", "")) not in used:
        attributes.pop("id", None)
    if name.startswith(MOVED):
        attributes["data-at"] = name.removeprefix(MOVED)
    for key, value in attributes.items():
        element.attrib[key] = _value(key, value, prefix)


def _value(key: str, value: str, prefix: str) -> str:
    if key == "id":
        return f"{prefix}-{value}"
    if key == "href":
        return f"#{prefix}-{value.removeprefix('#')}"
    value = _REFERENCE.sub(rf"url(#{prefix}-\1)", value)
    if key == "style":
        return ";".join(_declarations(value))
    return _shortened(value) if key in _COORDINATES else value


def _declarations(style: str) -> Iterator[str]:
    """What a style declares, of fonts the size alone; Matplotlib writes them in two ways."""
    for declaration in style.split(";"):
        name, _, value = (x.strip() for x in declaration.partition(":"))
        if name == "font" and (size := _SIZE.search(value)):
            yield f"font-size:{size[0]}"
        elif name and name != "font-family":
            yield f"{name}:{painted(value)}"


def _shortened(coordinates: str) -> str:
    """With a digit behind the point, and line breaks only where numbers need them."""
    rounded = _NUMBER.sub(lambda found: f"{float(found[0]):.1f}".removesuffix(".0"), coordinates)
    return re.sub(r"\s+", " ", rounded).strip()
