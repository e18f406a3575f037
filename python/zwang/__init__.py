"""Ensembles of constrained, non-smooth mechanical systems, on CPUs and GPUs.

>>> import zwang
>>> result = zwang.run("slung_load", members=500, progress=False)
>>> float(result.statistics["measure_mean"].sel(measure="peak_tension")) > 10
True

Studies are described in docs/study-file.md, results in docs/results.md, this package in docs/python.md.
"""
from __future__ import annotations

from . import _cuda as _cuda
from ._core import version as __version__
from ._errors import (BackendWarning, MachineError, MembersFailed, MembersWarning, Problem, StudyError, StudyWarning,
                      ZwangError)
from ._inspect import Answer, Bench, Check, Explanation, Modes, Replay, bench, check, explain, modes, replay
from ._result import Report, Result, open_results
from ._run import run
from ._study import Study, example, examples, load, loads, study

# Not in __all__: `from zwang import *` must leave Python's own open alone.
open = open_results

__all__ = [
    "Answer", "BackendWarning", "Bench", "Check", "Explanation", "MachineError", "MembersFailed", "MembersWarning", "Modes",
    "Problem", "Replay", "Report", "Result", "Study", "StudyError", "StudyWarning", "ZwangError", "__version__", "bench",
    "check", "example", "examples", "explain", "load", "loads", "modes", "open_results", "replay", "run", "study",
]
