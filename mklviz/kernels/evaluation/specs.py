"""Where the kernels of a bank come from. Descriptions of a million kernels are made when one is asked for: kept, they
would take 300 MB."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import eq
from typing import TypeVar, overload

import numpy as np

from mklviz.kernels.families import KernelFamily
from mklviz.typing import Indices

T = TypeVar("T", covariant=True)


@dataclass(frozen=True, slots=True)
class KernelSpec:
    """Where one kernel of a bank comes from."""

    name: str  # its name on screen, such as "gauss 2⁻¹ on x3"
    family: KernelFamily | None  # none for a Gram matrix given by the user
    value: float  # the family's parameter (width, degree); nan for a Gram matrix
    columns: tuple[int, ...]  # the features it sees; empty for a Gram matrix


class _Made(Sequence[T]):
    """A sequence whose elements are made when they are asked for; equal to any sequence of equal elements."""

    def _make(self, k: int) -> T:
        raise NotImplementedError

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return [self._make(k) for k in range(len(self))[index]]
        return self._make(range(len(self))[index])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(eq, self, other))


class _OfFamily(_Made[KernelSpec]):
    """The kernels of one family: every value on every subset."""

    def __init__(self, family: KernelFamily, subsets: Sequence[tuple[str, tuple[int, ...]]]) -> None:
        self._family, self._subsets, self._values = family, subsets, family.values()
        self._described = [family.describe(value) for value in self._values]

    def __len__(self) -> int:
        return len(self._subsets) * len(self._values)

    def _make(self, k: int) -> KernelSpec:
        subset, value = divmod(k, len(self._values))
        name, columns = self._subsets[subset]
        return KernelSpec(f"{self._described[value]} on {name}", self._family, self._values[value], columns)


class Specs(_Made[KernelSpec]):
    """The kernels of a bank, as they are added to it."""

    def __init__(self) -> None:
        self._parts: list[list[KernelSpec] | _OfFamily] = []
        self._starts = [0]

    def append(self, spec: KernelSpec) -> None:
        """Add one kernel."""
        last = self._parts[-1] if self._parts else None
        if last is None or isinstance(last, _OfFamily):
            last = []
            self._parts.append(last)
            self._starts.append(self._starts[-1])
        last.append(spec)
        self._starts[-1] += 1

    def extend(self, family: KernelFamily, subsets: Sequence[tuple[str, tuple[int, ...]]]) -> None:
        """Add the kernels of a family, every value on every subset, without making their descriptions."""
        self._parts.append(_OfFamily(family, subsets))
        self._starts.append(self._starts[-1] + len(self._parts[-1]))

    @property
    def complete(self) -> bool:
        """Whether every description exists already."""
        return not any(isinstance(part, _OfFamily) for part in self._parts)

    def __len__(self) -> int:
        return self._starts[-1]

    def _make(self, k: int) -> KernelSpec:
        part = int(np.searchsorted(self._starts, k, side="right")) - 1
        return self._parts[part][k - self._starts[part]]


class Picked(_Made[KernelSpec]):
    """Some of the kernels of a bank."""

    def __init__(self, specs: Sequence[KernelSpec], which: Indices) -> None:
        self._specs, self._which = specs, which

    def __len__(self) -> int:
        return len(self._which)

    def _make(self, k: int) -> KernelSpec:
        return self._specs[int(self._which[k])]


class Names(_Made[str]):
    """The kernels' names."""

    def __init__(self, specs: Sequence[KernelSpec]) -> None:
        self._specs = specs

    def __len__(self) -> int:
        return len(self._specs)

    def _make(self, k: int) -> str:
        return self._specs[k].name
