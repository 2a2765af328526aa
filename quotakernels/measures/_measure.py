"""One mechanism that lets every measure take labels and scores, or a ranking made once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

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
from quotakernels.measures._quota import beside, wanted_masses
from quotakernels.ranking import Ranking, TiePolicy, rank, table_of

R = TypeVar("R")

__all__ = ["Measure", "finished", "measure", "quota_measure"]

_FROM_DATA = inspect.signature(rank).parameters


class Measure(Generic[R]):
    """A measure, callable on ``(y_true, y_score, ...)`` or on a ``Ranking``.

    The wrapped function computes it from the table of a ranking; its keyword-only parameters are
    the measure's own.
    """

    def __init__(self, function: Callable[..., R], takes_quota: bool):
        functools.update_wrapper(self, function)
        self._function = function
        self._takes_quota = takes_quota
        own = list(inspect.signature(function).parameters.values())[1:]
        keywords = [p.name for p in own if p.kind is p.KEYWORD_ONLY]
        self._own = ("quota", "fraction") if takes_quota else tuple(keywords)
        self.__signature__ = _public_signature(own, takes_quota)

    @overload
    def __call__(self, ranking: Ranking, **own: Any) -> R: ...

    @overload
    def __call__(
        self,
        y_true: Any,
        y_score: Any,
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
        own = {name: keywords.pop(name) for name in self._own if name in keywords}
        ranking = self._ranking(arguments, keywords)
        if self._takes_quota:
            return self._at_quota(ranking, **own)
        xp = namespace(ranking.counts)
        dtype = result_float(xp, device(ranking.counts))
        with computing(xp):
            result = compiled(self._function, xp, self._own)(table_of(xp, ranking), **own)
            return finished(xp, result, dtype)

    def _at_quota(self, ranking: Ranking, quota: Any = None, fraction: Any = None) -> Any:
        ranking = beside(ranking, quota, fraction)
        xp = namespace(ranking.counts)
        dtype = result_float(xp, device(ranking.counts))
        with computing(xp):
            table = table_of(xp, ranking)
            wanted, shape = wanted_masses(xp, table, quota, fraction)
            result: Any = compiled(self._function, xp)(table, wanted)
            return finished(xp, xp.reshape(result, (*result.shape[:-1], *shape)), dtype)

    def _ranking(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Ranking:
        """The ranking among the arguments, or that of the labels and scores."""
        names = list(_FROM_DATA)[:2]
        if len(arguments) > len(names):
            raise TypeError(f"{self.__name__} takes y_true and y_score, or a Ranking, by position")
        given = dict(zip(names, arguments, strict=False))
        for name, value in keywords.items():
            if name in given:
                raise TypeError(f"{self.__name__} got {name} twice")
            if name not in _FROM_DATA and name != "ranking":
                raise TypeError(f"{self.__name__} got an unexpected keyword argument {name!r}")
            given[name] = value
        name = "ranking" if "ranking" in given else "y_true"
        if isinstance(given.get(name), Ranking):
            ranking: Ranking = given.pop(name)
            for extra in given:
                raise TypeError(f"{extra} cannot be combined with a Ranking; pass it to rank")
            return ranking
        if "ranking" in given:
            raise TypeError(f"ranking must be a Ranking; got {type(given[name]).__name__}")
        if not all(name in given for name in names):
            raise TypeError(f"{self.__name__} needs y_true and y_score, or a Ranking")
        return rank(**given)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self

    def __reduce__(self) -> str:
        return self.__name__

    def __repr__(self) -> str:
        return f"<measure {self.__name__}{self.__signature__}>"

    __name__: str


def _public_signature(own: list[inspect.Parameter], takes_quota: bool) -> inspect.Signature:
    keyword = inspect.Parameter.KEYWORD_ONLY
    quota = [inspect.Parameter(name, keyword, default=None) for name in ("quota", "fraction")]
    keywords = quota if takes_quota else [p for p in own if p.kind is keyword]
    return inspect.Signature([*_FROM_DATA.values(), *keywords])


def measure(function: Callable[..., R]) -> Measure[R]:
    """Make a measure of a function of a table."""
    return Measure(function, takes_quota=False)


def quota_measure(function: Callable[[ops.Groups, Array], Array]) -> Measure[Array]:
    """Make a measure of a function of a table and of the wanted masses, shape (..., K)."""
    return Measure(function, takes_quota=True)


def finished(xp: Namespace, result: Any, dtype: Any) -> Any:
    """Float arrays of a result in the caller's precision; other dtypes stay."""
    if isinstance(result, tuple):
        return type(result)(*(finished(xp, x, dtype) for x in result))
    wide = result.dtype == xp.float64
    return finish(xp, result, dtype if wide else result.dtype)
