"""Studies as Python objects."""
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Union

import numpy as np

from . import _core

# What is accepted in place of a study: itself, a path or a name, or a dict.
StudyLike = Union["Study", str, "os.PathLike[str]", Mapping[str, Any]]


class Study:
    """A study: immutable, comparable, hashable, and it can be pickled. ``str(study)`` is TOML.

    >>> import zwang
    >>> study = zwang.example("slung_load")
    >>> study.drawn
    ['mass', 'gust', 'side']
    >>> study.with_(**{"parameters.L": 2.5}) == study
    False
    """

    __slots__ = ("_handle",)
    _handle: _core.StudyHandle

    def __init__(self, handle: _core.StudyHandle) -> None:
        object.__setattr__(self, "_handle", handle)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a study does not change; study.with_(...) returns a changed copy ({name})")

    @property
    def name(self) -> str:
        """Name of the study: of its file, without folder and extension."""
        return self._handle.name

    @property
    def title(self) -> str:
        return self._handle.title

    @property
    def path(self) -> str:
        """Where the study was read from. CSV files are relative to its folder."""
        return self._handle.path

    @property
    def members(self) -> int:
        """Number of members; with ``until`` the largest number."""
        return self._handle.members

    @property
    def seed(self) -> int:
        return self._handle.seed

    @property
    def end(self) -> float:
        """End time."""
        return self._handle.end

    @property
    def parameters(self) -> list[str]:
        """Names of all parameters, also of draws written in place, such as ``load.x``."""
        return self._handle.parameters

    @property
    def drawn(self) -> list[str]:
        """Names of the parameters that are drawn for each member."""
        return self._handle.drawn

    @property
    def observables(self) -> list[str]:
        return self._handle.observables

    @property
    def measures(self) -> list[str]:
        return self._handle.measures

    @property
    def coordinates(self) -> list[str]:
        return self._handle.coordinates

    @property
    def notes(self) -> list[str]:
        """What the study probably does not mean."""
        return self._handle.notes

    @property
    def as_run(self) -> str:
        """The study as TOML with every default written out: ``study.toml`` among the results of a run."""
        return self._handle.as_run

    @property
    def inputs(self) -> dict[str, "np.ndarray[Any, np.dtype[np.float64]]"]:
        """The columns given by :meth:`with_inputs`."""
        return dict(self._handle.columns)

    def with_(self, changes: Mapping[str, Any] | None = None, /, **more: Any) -> "Study":
        """A changed copy. Keys are paths, as ``--set`` of the command line has them.

        >>> import zwang
        >>> study = zwang.example("slung_load")
        >>> longer = study.with_(**{"parameters.L": 2.5, "ensemble.members": 100})
        >>> longer.members
        100
        >>> study.with_({"constraint.cable.restitution": {"uniform": [0, 0.5]}}).drawn
        ['mass', 'gust', 'side', 'cable.restitution']
        """
        assignments = [f"{path}={_core.toml_value(value, path)}" for path, value in {**(changes or {}), **more}.items()]
        return Study(_core.with_overrides(self._handle, assignments))

    def with_inputs(self, inputs: Any) -> "Study":
        """A copy with one member for each row of ``inputs``: a DataFrame, or a mapping of names to arrays.

        Columns are named as parameters or draws, and replace them; the rest is drawn as the study says.

        >>> import zwang
        >>> study = zwang.example("slung_load").with_inputs({"mass": [0.9, 1.0, 1.1]})
        >>> study.members
        3
        """
        return Study(_core.with_columns(self._handle, columns_of(inputs)))

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the study to a file; columns of :meth:`with_inputs` to ``inputs.csv`` beside it."""
        path = os.fspath(path)
        if self._handle.columns:
            with open(os.path.join(os.path.dirname(path), "inputs.csv"), "w", encoding="utf-8") as file:
                file.write(self._handle.inputs_csv)
        with open(path, "w", encoding="utf-8") as file:
            file.write(str(self))

    def __str__(self) -> str:
        return self._handle.text

    def __repr__(self) -> str:
        draws = ", ".join(self.drawn[:6]) + (", ..." if len(self.drawn) > 6 else "")
        what = f": {self.title}" if self.title else ""
        return f"<zwang.Study {self.name}{what}; {self.members} members, draws {draws or 'nothing'}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Study):
            return NotImplemented
        return self._handle is other._handle or _core.equal(self._handle, other._handle)

    def __hash__(self) -> int:
        return hash(self.as_run)

    def __reduce__(self) -> tuple[Any, ...]:
        handle = self._handle
        return _restored, (handle.source, handle.path, handle.overrides, handle.columns)


def _restored(source: str, path: str, overrides: list[str], columns: list[tuple[str, Any]]) -> Study:
    return Study(_core.read(source, path, overrides, columns))


def columns_of(inputs: Any) -> list[tuple[str, Any]]:
    """The columns of a DataFrame or a mapping as arrays of doubles."""
    if not (hasattr(inputs, "items") and hasattr(inputs, "__getitem__")):
        _core.refuse("inputs", "not a table with names", f"an object of type {type(inputs).__name__}",
                     "a DataFrame, or a dict of names and arrays", "pandas.DataFrame(array, columns=names) gives names")
    columns = []
    for name, values in inputs.items():
        where = f"column '{name}'"
        if not isinstance(name, str):
            _core.refuse("inputs", f"{where}: not a name", f"an object of type {type(name).__name__}",
                         "the name of a parameter or draw, as a str")
        array: Any = np.asarray(values)
        if array.ndim != 1:
            _core.refuse("inputs", f"{where} has the wrong shape", str(array.shape),
                         "one number for each member: a one-dimensional array")
        if array.dtype.kind not in "fiub":
            try:
                array = np.asarray(array, dtype=np.float64) if array.dtype.kind == "O" else None
            except (TypeError, ValueError):
                array = None
            if array is None:
                _core.refuse("inputs", f"{where} does not hold numbers", f"an array of {np.asarray(values).dtype}",
                             "one number for each member")
        columns.append((name, np.ascontiguousarray(array, dtype=np.float64)))
    if not columns:
        _core.refuse("inputs", "no column was given", "an empty table", "at least one column")
    return columns


def load(path: Union[str, "os.PathLike[str]"]) -> Study:
    """Reads a study from a TOML file, or one that comes with the package by its name.

    >>> import zwang
    >>> zwang.load("bouncing_ball").name
    'bouncing_ball'
    """
    return Study(_core.load(os.fspath(path)))


def loads(text: str, path: Union[str, "os.PathLike[str]"] = "study.toml") -> Study:
    """Reads a study from text. ``path`` names it in messages; CSV files are relative to its folder.

    >>> import zwang
    >>> ball = zwang.loads('''
    ... [[point]]
    ... name = "ball"
    ... mass = 1
    ... position = [{ uniform = [1, 2] }]
    ... [system]
    ... gravity = [-9.81]
    ... [time]
    ... end = 1
    ... ''')
    >>> ball.drawn
    ['ball.x']
    """
    return Study(_core.read(text, os.fspath(path), [], []))


def study(tables: Mapping[str, Any], path: Union[str, "os.PathLike[str]"] = "study.toml") -> Study:
    """A study from a dict with the keys of the TOML file.

    >>> import zwang
    >>> ball = zwang.study({
    ...     "point": [{"name": "ball", "mass": 1, "position": [{"uniform": [1, 2]}]}],
    ...     "system": {"gravity": [-9.81]},
    ...     "constraint": [{"name": "floor", "require": "ball.x >= 0", "restitution": 0.5}],
    ...     "time": {"end": 1},
    ... })
    >>> zwang.loads(str(ball)) == ball
    True
    """
    return loads(_core.toml_of(dict(tables)), path)


def example(name: str) -> Study:
    """A study that comes with the package; :func:`examples` lists their names.

    >>> import zwang
    >>> zwang.example("slung_load").title
    'Payload on a cable that can go slack'
    """
    return Study(_core.load_listed(name))


def examples() -> list[str]:
    """The names of the studies that come with the package.

    >>> import zwang
    >>> "double_string" in zwang.examples()
    True
    """
    return _core.listed_names()


def as_study(given: StudyLike) -> Study:
    """The study that is meant by an argument."""
    if isinstance(given, Study):
        return given
    if isinstance(given, Mapping):
        return study(given)
    if isinstance(given, (str, os.PathLike)):
        return load(given)
    _core.refuse("study", "not a study", f"an object of type {type(given).__name__}",
                 "a zwang.Study, the path of a study, the name of an example, or a dict")
    raise AssertionError
