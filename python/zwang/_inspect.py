"""One member and the rest: replay, explain, modes, check, bench."""
from __future__ import annotations

import functools
import json as json_module
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from . import _core, _jobs
from ._run import BACKENDS, changed, device_list, one_of, whole_number
from ._study import Study, StudyLike, as_study

if TYPE_CHECKING:
    import pandas

_most_members = 2**63 - 1


class Answer:
    """What a command found: ``.json`` is the object that the command line prints with ``--json``, ``.text`` its table."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = dict(texts)

    @functools.cached_property
    def json(self) -> dict[str, Any]:
        """The object of the command line's ``--json``."""
        made: dict[str, Any] = json_module.loads(self._texts["json"])
        return made

    @property
    def text(self) -> str:
        """The text of the command line."""
        return self._texts["text"]

    def __repr__(self) -> str:
        return self.text.rstrip("\n")


def _numbers(values: Any) -> Any:
    """Numbers as an array; null is NaN."""
    return np.array(values, dtype=np.float64)


def _complex(values: Any) -> Any:
    pairs = _numbers(values).reshape(-1, 2)
    return pairs[:, 0] + 1j * pairs[:, 1]


class Replay(Answer):
    """The motion of one member."""

    @property
    def status(self) -> str:
        return str(self.json["status"])

    @property
    def member(self) -> int:
        return int(self.json["member"])

    @functools.cached_property
    def t(self) -> Any:
        """Output times, or those of the steps."""
        return _numbers(self.json["t"])

    def _table(self, *keys: tuple[str, str]) -> "pandas.DataFrame":
        import pandas

        columns = {name + suffix: _numbers(values) for key, suffix in keys
                   for name, values in self.json[key].items()}
        return pandas.DataFrame(columns, index=pandas.Index(self.t, name="t"))

    @functools.cached_property
    def states(self) -> "pandas.DataFrame":
        """Positions, velocities (``load.x'``) and auxiliary states by time."""
        return self._table(("state", ""), ("velocity", "'"), ("auxiliary", ""))

    @functools.cached_property
    def multipliers(self) -> "pandas.DataFrame":
        """Multipliers of the constraints by time."""
        return self._table(("multipliers", ""))

    @functools.cached_property
    def observables(self) -> "pandas.DataFrame":
        return self._table(("observables", ""))

    @functools.cached_property
    def events(self) -> "pandas.DataFrame":
        """One row for each event, in the order of time."""
        import pandas

        made = pandas.DataFrame(self.json["events"])
        return made if len(made.columns) else pandas.DataFrame(columns=["t", "kind"])

    @property
    def inputs(self) -> dict[str, float]:
        """The drawn parameters."""
        return dict(self.json["inputs"])

    @property
    def measures(self) -> dict[str, float]:
        return {name: float("nan") if value is None else value for name, value in self.json["measures"].items()}

    @property
    def audit(self) -> dict[str, Any]:
        """The largest violations of constraints, energy and optimality along the motion."""
        return dict(self.json["audit"])

    @property
    def csv(self) -> str:
        """The states as comma-separated values, as ``zwang replay --csv`` prints them."""
        return self._texts["csv"]


class Explanation(Answer):
    """Why the accelerations at one state are what they are."""

    @property
    def t(self) -> float:
        return float(self.json["t"])

    @property
    def coordinates(self) -> list[str]:
        return list(self.json["coordinates"])

    @property
    def state(self) -> Any:
        return _numbers(self.json["state"])

    @property
    def velocity(self) -> Any:
        return _numbers(self.json["velocity"])

    @property
    def mass(self) -> Any:
        """The mass matrix."""
        return _numbers(self.json["mass"])

    @property
    def free_acceleration(self) -> Any:
        """The accelerations without constraints."""
        return _numbers(self.json["free_acceleration"])

    @property
    def acceleration(self) -> Any:
        return _numbers(self.json["acceleration"])

    @property
    def multipliers(self) -> dict[str, float]:
        """Multipliers of the constraints by name; NaN where a constraint has none."""
        return {one["name"]: float("nan") if one.get("multiplier") is None else float(one["multiplier"])
                for one in self.json["constraints"]}

    @property
    def latex(self) -> str:
        """The derived equations as LaTeX."""
        return self._texts["latex"]


class Modes(Answer):
    """Small oscillations about an equilibrium."""

    @property
    def coordinates(self) -> list[str]:
        return list(self.json["coordinates"])

    @property
    def equilibrium(self) -> Any:
        """The coordinates of the equilibrium."""
        return _numbers(list(self.json["equilibrium"].values()))

    @property
    def frequencies(self) -> Any:
        """Angular frequencies."""
        return _numbers(self.json["frequencies_rad_s"])

    @property
    def growth_rates(self) -> Any:
        return _numbers(self.json["growth_rates"])

    @property
    def roots(self) -> Any:
        """Roots of the characteristic polynomial, complex."""
        return _complex(self.json["roots"])

    @property
    def lambda_squared(self) -> Any:
        return _complex(self.json["lambda_squared"])

    @property
    def shapes(self) -> Any:
        """One row for each oscillation: the complex amplitudes of the coordinates."""
        return _numbers(self.json["modes"]) + 1j * _numbers(self.json["modes_imaginary"])

    @property
    def verdict(self) -> str:
        return str(self.json["verdict"])


class Check(Answer):
    """The comparison of a backend with the reference. It is true if they agree."""

    @property
    def verdict(self) -> str:
        return str(self.json["verdict"])

    @property
    def members(self) -> Any:
        """Numbers of the members that were compared."""
        return np.array(self.json["members"], dtype=np.int64)

    @property
    def worst(self) -> "pandas.DataFrame":
        """The comparisons with the largest differences in relation to what is allowed."""
        import pandas

        return pandas.DataFrame(self.json.get("worst_cases", []))

    def __bool__(self) -> bool:
        return self.verdict == "pass"


class Bench(Answer):
    """The speed of a study."""

    @property
    def lines(self) -> "pandas.DataFrame":
        """One row for each backend, number of threads and lanes."""
        import pandas

        return pandas.DataFrame(self.json["lines"])

    @property
    def members_per_second(self) -> float:
        """Of the fastest line."""
        return max(float(line["members_per_s"]) for line in self.json["lines"])


def _with_seed(study: StudyLike, seed: int | None, inputs: Any = None) -> Study:
    ready = as_study(study)
    return changed(ready if inputs is None else ready.with_inputs(inputs), None, seed, None)


def replay(study: StudyLike, member: int = 0, *, seed: int | None = None, backend: str = "reference",
           steps: bool = False, inputs: Any = None) -> Replay:
    """Simulates one member again. ``steps``: states at every step of the integrator, by the reference.

    >>> import zwang
    >>> motion = zwang.replay("bouncing_ball", member=0)
    >>> motion.status
    'ok'
    >>> list(motion.events["kind"].unique()[:2])
    ['contact', 'shock']
    """
    ready = _with_seed(study, seed, inputs)
    one_of("backend", backend, BACKENDS)
    if steps and backend != "reference":
        _core.refuse("steps", "steps need the reference backend", f"backend={backend!r}", "backend=\"reference\"")
    number = whole_number("member", member, 0, _most_members)
    return Replay(_jobs.follow(_core.start_replay(ready._handle, number, backend, bool(steps))))


def explain(study: StudyLike, at: float = 0.0, *, member: int = 0, seed: int | None = None,
            inputs: Any = None) -> Explanation:
    """The derived equations, and why the accelerations at time ``at`` are what they are.

    >>> import zwang
    >>> found = zwang.explain("slung_load", at=0.5)
    >>> found.acceleration.shape
    (3,)
    """
    ready = _with_seed(study, seed, inputs)
    if not (isinstance(at, (int, float)) and 0 <= at < float("inf")):
        _core.refuse("at", "out of range", repr(at), "a time, 0 or later")
    number = whole_number("member", member, 0, _most_members)
    return Explanation(_jobs.follow(_core.start_explain(ready._handle, number, float(at))))


def modes(study: StudyLike, *, member: int | None = None, near: Mapping[str, float] | None = None,
          seed: int | None = None) -> Modes:
    """Small oscillations about the equilibrium near the start, or near the coordinates given by ``near``.

    >>> import zwang
    >>> zwang.modes("small_oscillations").verdict
    'unstable'
    """
    ready = _with_seed(study, seed)
    number = None if member is None else whole_number("member", member, 0, _most_members)
    places = []
    for name, value in (near or {}).items():
        if not (isinstance(value, (int, float, np.number)) and np.isfinite(value)):
            _core.refuse("near", f"{name}: not a number", repr(value), "a finite number")
        places.append((name, float(value)))
    return Modes(_jobs.follow(_core.start_modes(ready._handle, number, places)))


def check(study: StudyLike, *, sample: int = 64, members: int | None = None, seed: int | None = None,
          backend: str = "auto", threads: int = 0, devices: Union[int, Sequence[int], str] = 0, reverse: bool = False,
          budget: float = 1.0, progress: _jobs.Progress = False) -> Check:
    """Compares a backend with the reference, from output time to output time, on ``sample`` members.

    >>> import zwang
    >>> bool(zwang.check("bouncing_ball", sample=2, members=8))
    True
    """
    ready = changed(as_study(study), members, seed, None)
    request = _core.CheckRequest()
    request.backend = one_of("backend", backend, BACKENDS)
    request.sample = whole_number("sample", sample, 1, 10**12)
    request.threads = whole_number("threads", threads, 0, 4096)
    request.devices = device_list(devices)
    request.reverse = bool(reverse)
    if not (isinstance(budget, (int, float)) and budget > 0):
        _core.refuse("budget", "out of range", repr(budget), "a number > 0")
    request.budget = float(budget)
    return Check(_jobs.follow(_core.start_check(ready._handle, request), progress))


def bench(study: StudyLike, *, backend: str = "auto", seconds: float = 1.0, members: int | None = None,
          threads: int = 0, devices: Union[int, Sequence[int], str] = 0, seed: int | None = None) -> Bench:
    """Measures the speed of a study: compilation, members and steps per second.

    >>> import zwang
    >>> zwang.bench("bouncing_ball", backend="reference", seconds=0.05, threads=1).members_per_second > 1
    True
    """
    ready = _with_seed(study, seed)
    if not (isinstance(seconds, (int, float)) and 0 < seconds < 1e6):
        _core.refuse("seconds", "out of range", repr(seconds), "a number > 0")
    batch = 0 if members is None else whole_number("members", members, 1, 10**12)
    return Bench(_jobs.follow(_core.start_bench(ready._handle, one_of("backend", backend, BACKENDS), float(seconds),
                                                batch, whole_number("threads", threads, 0, 4096),
                                                device_list(devices))))
