"""One mechanism that lets every measure take labels and scores, or a ranking made once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from quotakernels import ops
from quotakernels._array import (
    Array,
    Namespace,
    compiled,
    computing,
    device,
    finish,
    namespace,
    result_float,
)
from quotakernels.measures._quota import wanted_masses
from quotakernels.ranking import Ranking, TiePolicy, rank, table_of

P = ParamSpec("P")
R = TypeVar("R")

__all__ = ["Measure", "finished", "measure", "quota_measure"]

_FROM_DATA = inspect.signature(rank).parameters


class Measure(Generic[P, R]):
    """A measure, callable on ``(y_true, y_score, ...)`` or on a ``Ranking``.

    The wrapped function computes it from the table of a ranking; its keyword-only parameters are
    the measure's own.
    """

    def __init__(self, function: Callable[Concatenate[ops.Groups, P], R], takes_quota: bool):
        functools.update_wrapper(self, function)
        self.of_table = function
        self._takes_quota = takes_quota
        own = list(inspect.signature(function).parameters.values())[1:]
        self._static = tuple(p.name for p in own if p.kind is p.KEYWORD_ONLY)
        self.__signature__ = _public_signature(own, takes_quota)

    @overload
    def __call__(self, ranking: Ranking, /, **own: Any) -> R: ...

    @overload
    def __call__(
        self,
        y_true: Any,
        y_score: Any,
        /,
        *,
        sample_weight: Any = None,
        where: Any = None,
        pos_label: Any = None,
        ties: TiePolicy = "expected",
        validate: bool = True,
        **own: Any,
    ) -> R: ...

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        """Compute the measure; see the docstring of the measure."""
        ranking, own = self._ranking(arguments, keywords)
        xp = namespace(ranking.counts)
        dtype = result_float(xp, device(ranking.counts))
        with computing(xp):
            table = table_of(xp, ranking)
            if not self._takes_quota:
                self._refuse_unknown(own)
                result = compiled(self.of_table, xp, self._static)(table, **own)
                return finished(xp, result, dtype)
            wanted, shape = wanted_masses(xp, table, own.pop("quota", None), own.pop("fraction", None))
            self._refuse_unknown(own)
            result = compiled(self.of_table, xp)(table, wanted)
            return finished(xp, xp.reshape(result, (*result.shape[:-1], *shape)), dtype)

    def _ranking(
        self, arguments: tuple[Any, ...], keywords: dict[str, Any]
    ) -> tuple[Ranking, dict[str, Any]]:
        names = list(_FROM_DATA)[:2]
        given = dict(zip(names, arguments, strict=False))
        if len(arguments) > 2:
            raise TypeError(f"{self.__name__} takes y_true and y_score, or a Ranking, by position")
        given |= {name: keywords.pop(name) for name in _FROM_DATA if name in keywords}
        first = given.get("y_true", keywords.pop("ranking", None))
        if isinstance(first, Ranking):
            if len(given) > ("y_true" in given):
                extra = next(name for name in given if name != "y_true")
                raise TypeError(f"{extra} cannot be combined with a Ranking; pass it to rank")
            return first, keywords
        if "y_score" not in given:
            raise TypeError(f"{self.__name__} needs y_true and y_score, or a Ranking")
        return rank(**given), keywords

    def _refuse_unknown(self, own: dict[str, Any]) -> None:
        for name in own:
            if name not in self._static:
                raise TypeError(f"{self.__name__} got an unexpected keyword argument {name!r}")

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self

    def __repr__(self) -> str:
        return f"<measure {self.__name__}{self.__signature__}>"

    __name__: str


def _public_signature(own: list[inspect.Parameter], takes_quota: bool) -> inspect.Signature:
    keyword = inspect.Parameter.KEYWORD_ONLY
    quota = [inspect.Parameter(name, keyword, default=None) for name in ("quota", "fraction")]
    keywords = quota if takes_quota else [p for p in own if p.kind is keyword]
    return inspect.Signature([*_FROM_DATA.values(), *keywords])


def measure(function: Callable[Concatenate[ops.Groups, P], R]) -> Measure[P, R]:
    """Make a measure of a function of a table."""
    return Measure(function, takes_quota=False)


def quota_measure(function: Callable[[ops.Groups, Array], Array]) -> Measure[..., Array]:
    """Make a measure of a function of a table and of the wanted masses, shape (..., K)."""
    return Measure(function, takes_quota=True)


def finished(xp: Namespace, result: Any, dtype: Any) -> Any:
    """Float arrays of a result in the caller's precision; other dtypes stay."""
    if isinstance(result, tuple):
        return type(result)(*(finished(xp, x, dtype) for x in result))  # type: ignore[call-arg]
    wide = xp.isdtype(result.dtype, "real floating") and result.dtype == xp.float64
    return finish(xp, result, dtype if wide else result.dtype)
