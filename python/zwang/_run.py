"""Runs: zwang.run."""
from __future__ import annotations

import operator
import os
import shutil
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Union

from . import _core, _jobs
from ._errors import MembersWarning, StudyWarning
from ._result import Result
from ._study import Study, StudyLike, as_study

_most_members = 1_000_000_000_000
_never = 1e9  # seconds


def whole_number(name: str, value: Any, least: int, most: int) -> int:
    """The argument as an int; 1e6 is one too."""
    try:
        number = int(value) if isinstance(value, float) and value.is_integer() else operator.index(value)
    except TypeError:
        number = least - 1
    if not least <= number <= most:
        _core.refuse(name, "out of range", repr(value), f"a whole number from {least} to {most}")
    return number


def one_of(name: str, value: Any, known: Sequence[str]) -> str:
    if value not in known:
        _core.refuse(name, "there is no such choice", repr(value), "one of: " + ", ".join(known))
    return str(value)


BACKENDS = ("auto", "cpu", "cuda", "reference")


def device_list(devices: Union[int, Sequence[int], str]) -> list[int]:
    """GPUs by number; "all" is an empty list."""
    if devices == "all":
        return []
    numbers = [devices] if isinstance(devices, int) else list(devices)
    return [whole_number("devices", number, 0, 4096) for number in numbers]


def changed(study: Study, members: Any, seed: Any, until: Mapping[str, Any] | None) -> Study:
    """The study with the arguments of a run."""
    changes: dict[str, Any] = {}
    if members is not None:
        changes["ensemble.members"] = whole_number("members", members, 1, _most_members)
    if seed is not None:
        changes["ensemble.seed"] = whole_number("seed", seed, 0, 2**63 - 1)
    if until is not None:
        changes["ensemble.until"] = until
    return study.with_(changes) if changes else study


def _scratch_folder(bytes_needed: float) -> str:
    """A folder for the files of a run: in memory if they fit into a part of it, else among temporary files."""
    memory, prefix = "/dev/shm", f"zwang-{os.getpid()}-"
    try:
        state = os.statvfs(memory)
        # The records of members are kept beside members.nc until the end.
        fits = 3 * bytes_needed + (64 << 20) < 0.5 * state.f_bavail * state.f_frsize
        if fits and os.access(memory, os.W_OK | os.X_OK):
            return tempfile.mkdtemp(prefix=prefix, dir=memory)
    except OSError:
        pass
    return tempfile.mkdtemp(prefix=prefix)


def _warn_of_failures(result: Result, max_failed: float) -> None:
    members = result.summary["members"]
    integrated, failed = members["integrated"], members["failed"]
    if integrated and failed > max_failed * integrated:
        warnings.warn(
            f"{failed} of {integrated} members failed ({100 * failed / integrated:.3g} %), more than max_failed allows "
            f"({100 * max_failed:.3g} %); the statistics cover the other members, result.failures lists these",
            MembersWarning, stacklevel=3)


def run(study: StudyLike, *, inputs: Any = None, members: int | None = None, seed: int | None = None,
        backend: str = "auto", threads: int = 0, until: Mapping[str, Any] | None = None,
        progress: _jobs.Progress = True, folder: Union[str, "os.PathLike[str]", None] = None, resume: bool = False,
        overwrite: bool = False, devices: Union[int, Sequence[int], str] = 0, batch: int | None = None,
        statistics_memory: int = 512, checkpoint: float = 10.0, max_failed: float = 0.05) -> Result:
    """Simulates the ensemble of a study and returns its results.

    The numbers do not depend on ``threads``, ``batch`` and ``folder``, and are those of ``zwang run``.

    study
        A :class:`zwang.Study`, the path of a file, the name of an example, or a dict.
    inputs
        A DataFrame or a dict of arrays with one row for each member: row k is member k. Columns are named as parameters or
        draws; the rest is drawn as the study says.
    members, seed, until
        Instead of the study's own. ``until={"measure": "x", "relative_stderr": 0.01}`` stops once x is known so well.
    backend, threads, devices
        "auto", "cuda", "cpu" or "reference"; threads of the host, 0: all cores; GPUs by number, or "all".
    progress
        True: a bar by tqdm where it is installed, else a line; or a function of members done and members in all.
    folder, resume, overwrite, checkpoint
        A folder for the result files. An interrupted run in it is continued with ``resume=True``; progress is saved every
        ``checkpoint`` seconds. Without a folder the results are kept in memory.
    batch, statistics_memory
        Members per batch; MiB for the values of which quantiles are exact.
    max_failed
        Largest share of failed members without a warning. If all members fail :class:`zwang.MembersFailed` is raised,
        unless it is 1.

    >>> import zwang
    >>> result = zwang.run("slung_load", members=200, progress=False)
    >>> result.statistics["measure_mean"].sel(measure="snaps").item() > 0
    True
    """
    ready = as_study(study)
    if inputs is not None:
        ready = ready.with_inputs(inputs)
    ready = changed(ready, members, seed, until)
    for note in ready.notes:
        warnings.warn(note, StudyWarning, stacklevel=2)
    if not 0 <= max_failed <= 1:
        _core.refuse("max_failed", "out of range", repr(max_failed), "a share from 0 to 1")

    request = _core.RunRequest()
    request.backend = one_of("backend", backend, BACKENDS)
    request.threads = whole_number("threads", threads, 0, 4096)
    request.devices = device_list(devices)
    request.batch = 0 if batch is None else whole_number("batch", batch, 1, _most_members)
    request.statistics_memory = whole_number("statistics_memory", statistics_memory, 1, 1 << 24)
    request.max_failed = max_failed
    _jobs.clear_left()
    if folder is None:
        if resume or overwrite:
            _core.refuse("folder", "resume and overwrite need a folder", "none", "folder=\"results/name\"")
        result = _run_in_memory(ready, request, progress)
    else:
        result = _run_in_folder(ready, request, progress, os.fspath(folder), resume, overwrite, checkpoint)
    _warn_of_failures(result, max_failed)
    return result


def _run_in_memory(study: Study, request: _core.RunRequest, progress: _jobs.Progress) -> Result:
    scratch = _scratch_folder(_core.estimated_bytes(study._handle))
    try:
        request.folder = os.path.join(scratch, "results")
        request.checkpoint = _never
        _jobs.follow(_core.start_run(study._handle, request), progress, scratch=scratch)
        files = {}
        for name in _core.result_names():
            path = os.path.join(request.folder, name)
            if os.path.exists(path):
                with open(path, "rb") as file:
                    files[name] = file.read()
        return Result._of_files(study, files)
    finally:
        if not _jobs.is_left(scratch):
            shutil.rmtree(scratch, ignore_errors=True)


def _run_in_folder(study: Study, request: _core.RunRequest, progress: _jobs.Progress, folder: str, resume: bool,
                   overwrite: bool, checkpoint: float) -> Result:
    if not (isinstance(checkpoint, (int, float)) and checkpoint >= 0):
        _core.refuse("checkpoint", "out of range", repr(checkpoint), "seconds, 0 or more")
    if resume and overwrite:
        _core.refuse("resume", "resume and overwrite exclude each other", "both", "one of them")
    _jobs.wait_for_left(folder)
    request.folder, request.resume, request.overwrite = folder, bool(resume), bool(overwrite)
    request.checkpoint = float(checkpoint)
    _jobs.follow(_core.start_run(study._handle, request), progress, folder=folder,
                 interrupted=f"interrupted: finished members are saved; zwang.run(study, folder={folder!r}, resume=True) "
                             "continues")
    return Result._of_folder(folder, study)
