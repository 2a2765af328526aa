"""What type checkers and editors know of arrays: those that come in tell which come out.

No library is imported for it.  Where PyTorch or JAX are not installed, their arrays are unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypedDict

import numpy as np

TiePolicy = Literal["expected", "optimistic", "pessimistic", "given"]
WhenShort: TypeAlias = Literal["all", "nan"]


class _Column(Protocol):
    """A column of pandas, Polars or Arrow."""

    def to_numpy(self) -> Any: ...


class _Tensor(Protocol):
    """An array of PyTorch, by what no other library has."""

    def detach(self) -> Any: ...


class _Sharded(Protocol):
    """An array of JAX, by what no other library has."""

    @property
    def sharding(self) -> Any: ...


Numpy: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[np.float64]]

if TYPE_CHECKING:
    from typing import Generic as Generic

    from typing_extensions import TypeVar

    A = TypeVar("A", bound=_Tensor | _Sharded | Numpy, default=Numpy)
    """The arrays of the library that is given; NumPy's of lists and of other arrays of NumPy."""
    T = TypeVar("T", default=Any, covariant=True)
    """The arrays of a record."""
else:
    from typing import TypeVar

    A, T = TypeVar("A"), TypeVar("T")

    class _Unseen:
        """`Generic` for type checkers alone.

        Libraries know a named tuple, whose columns they trace, by its one base, `tuple`.
        """

        def __getitem__(self, _: Any) -> _Unseen:
            return self

        def __mro_entries__(self, _: Any) -> tuple[()]:
            return ()

    Generic = _Unseen()

ArrayOf: TypeAlias = A | np.ndarray[Any, Any] | list[Any] | tuple[Any, ...] | range | _Column
"""An array of a library, or what NumPy reads."""
NumberOf: TypeAlias = float | np.number[Any] | ArrayOf[A]
"""A number or several."""
Number: TypeAlias = NumberOf[_Tensor | _Sharded]
"""A number or several, of any library."""
Numbers: TypeAlias = ArrayOf[_Tensor | _Sharded]
"""Several numbers, of any library."""


class BatchData(TypedDict, total=False):
    """What a state takes of the keywords of `rank`."""

    sample_weight: Any
    where: Any
    pos_label: Any
    validate: bool
    gain: Any
    gain_rejected: Any
    groups: Any
    cost: Any
    treatment: Any
