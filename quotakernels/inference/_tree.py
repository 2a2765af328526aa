"""Results of measures: arrays, and records and mappings of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any


def tree_map(function: Callable[[Any], Any], tree: Any) -> Any:
    """The same tree, of what the function makes of each array."""
    return trees_map(lambda parts: function(parts[0]), [tree])


def trees_map(function: Callable[[list[Any]], Any], trees: Sequence[Any]) -> Any:
    """One tree, of what the function makes of the arrays that stand in one place of all trees."""
    first = trees[0]
    if isinstance(first, Mapping):
        return {key: trees_map(function, [tree[key] for tree in trees]) for key in first}
    if isinstance(first, tuple):
        parts = [trees_map(function, list(part)) for part in zip(*trees, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else tuple(parts)
    return function(list(trees))


def leaves(tree: Any) -> list[Any]:
    """The arrays of a tree."""
    found: list[Any] = []
    tree_map(found.append, tree)
    return found
