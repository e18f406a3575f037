"""The exceptions of the package. Their text is that of the command line."""
from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any


@dataclasses.dataclass(frozen=True)
class Problem:
    """One mistake: where it is, what was found, what was expected, and a hint. What is unknown is None."""

    file: str | None
    line: int | None
    column: int | None
    message: str
    found: str | None
    expected: str | None
    hint: str | None


class ZwangError(Exception):
    """Base of the exceptions of the package. The attributes are those of the first problem.

    >>> import zwang
    >>> try:
    ...     zwang.loads("[time]\\nendd = 1")
    ... except zwang.StudyError as error:
    ...     last = error.problems[-1]
    ...     print(last.line, last.column, last.hint)
    2 1 did you mean 'end'?
    """

    def __init__(self, text: str, problems: Iterable[Mapping[str, Any] | Problem] = ()) -> None:
        super().__init__(text)
        self.problems = tuple(one if isinstance(one, Problem) else Problem(**one) for one in problems)

    @property
    def _first(self) -> Problem:
        return self.problems[0] if self.problems else Problem(None, None, None, str(self), None, None, None)

    @property
    def file(self) -> str | None:
        return self._first.file

    @property
    def line(self) -> int | None:
        return self._first.line

    @property
    def column(self) -> int | None:
        return self._first.column

    @property
    def message(self) -> str:
        return self._first.message

    @property
    def found(self) -> str | None:
        return self._first.found

    @property
    def expected(self) -> str | None:
        return self._first.expected

    @property
    def hint(self) -> str | None:
        return self._first.hint

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.problems)


class StudyError(ZwangError, ValueError):
    """A mistake in a study, in an argument or in arrays of inputs."""


class MachineError(ZwangError, RuntimeError):
    """The machine refused something: a full disk, a failing compiler, a missing GPU."""


class MembersFailed(ZwangError, RuntimeError):
    """All members of a run failed, so there are no statistics."""


class MembersWarning(UserWarning):
    """More members failed than ``max_failed`` allows; the statistics cover the others."""


class StudyWarning(UserWarning):
    """What a study probably does not mean."""


class BackendWarning(RuntimeWarning):
    """A slower backend is used because there is no compiler."""
