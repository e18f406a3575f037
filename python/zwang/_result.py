"""Results of a run: in memory, or in a folder."""
from __future__ import annotations

import functools
import html
import json
import os
import tempfile
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from . import _core, _netcdf
from ._study import Study, load

if TYPE_CHECKING:
    import pandas
    import xarray

# How to have a file that the study did not ask for.
_HOW_TO_HAVE = {
    "members.nc": 'study.with_(**{"output.members": True})',
    "trajectories.nc": 'study.with_(**{"output.trajectories": [0, 1, 2]})',
    "records.nc": "a [[record]] in the study",
}


class Report:
    """The report of a run: one HTML page that needs no network. A notebook shows it; :meth:`save` writes it."""

    def __init__(self, page: str) -> None:
        self.html = page

    def save(self, path: Union[str, "os.PathLike[str]"]) -> str:
        """Writes the page and returns its path."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)
        return os.fspath(path)

    def _repr_html_(self) -> str:
        # The page has styles and scripts of its own, which must not reach the notebook's.
        return f'<iframe style="width: 100%; height: 720px; border: 0" srcdoc="{html.escape(self.html)}"></iframe>'

    def __repr__(self) -> str:
        return f"<zwang.Report, {len(self.html)} characters; .save(path) writes it>"


class Result:
    """The results of a run.

    >>> import zwang
    >>> result = zwang.run("bouncing_ball", members=50, progress=False)
    >>> result.summary["members"]["entered"]
    50
    >>> sorted(result.statistics.sizes)[:2]
    ['bin', 'bin_edge']
    """

    def __init__(self, study: Study | None, files: dict[str, bytes] | None, folder: str | None) -> None:
        self._study, self._files, self._folder = study, files, folder

    @classmethod
    def _of_files(cls, study: Study, files: dict[str, bytes]) -> "Result":
        return cls(study, files, None)

    @classmethod
    def _of_folder(cls, folder: str, study: Study | None = None) -> "Result":
        return cls(study, None, os.path.abspath(folder))

    # --- Files ---

    @property
    def files(self) -> list[str]:
        """Names of the result files."""
        if self._files is not None:
            return list(self._files)
        return [name for name in _core.result_names() if os.path.exists(os.path.join(self._folder or "", name))]

    @property
    def folder(self) -> str | None:
        """The folder of the files; None: they are in memory."""
        return self._folder

    def _bytes(self, name: str) -> bytes:
        if self._files is not None:
            return self._files[name]
        with open(os.path.join(self._folder or "", name), "rb") as file:
            return file.read()

    def _dataset(self, name: str) -> "xarray.Dataset":
        if name not in self.files:
            # An AttributeError, so that hasattr(result, "members") is False.
            raise AttributeError(f"this run has no {name}: the study did not ask for it. {_HOW_TO_HAVE[name]} gives it")
        if self._files is not None:
            return _netcdf.dataset(name, self._files[name])
        return _netcdf.dataset(name, os.path.join(self._folder or "", name))

    # --- Contents ---

    @functools.cached_property
    def statistics(self) -> "xarray.Dataset":
        """``statistics.nc``: moments, quantiles, histograms, covariances and their confidence intervals.

        >>> import zwang
        >>> result = zwang.run("slung_load", members=100, progress=False)
        >>> result.statistics["mean"].sel(observable="height").dims
        ('time',)
        """
        return self._dataset("statistics.nc")

    @functools.cached_property
    def members(self) -> "xarray.Dataset":
        """``members.nc``: inputs, measures, final state and status of each member, with ``output.members = true``."""
        return self._dataset("members.nc")

    @functools.cached_property
    def trajectories(self) -> "xarray.Dataset":
        """``trajectories.nc``: states and events of the members that ``output.trajectories`` names."""
        return self._dataset("trajectories.nc")

    @functools.cached_property
    def records(self) -> "xarray.Dataset":
        """``records.nc``: the rows of ``[[record]]``."""
        return self._dataset("records.nc")

    @functools.cached_property
    def summary(self) -> dict[str, Any]:
        """``summary.json``."""
        made: dict[str, Any] = json.loads(self._bytes("summary.json"))
        return made

    @functools.cached_property
    def study(self) -> Study:
        """The study as it was run."""
        if self._study is not None:
            return self._study
        return load(os.path.join(self._folder or "", "study.toml"))

    @functools.cached_property
    def failures(self) -> "pandas.DataFrame":
        """Failed members with their status and, for the first of each status, the cause.

        All of them where the run has ``members.nc``, else the first of each status.

        >>> import zwang
        >>> len(zwang.run("bouncing_ball", members=20, progress=False).failures)
        0
        """
        import pandas

        rows = []
        for status, numbers in self._failed_members().items():
            for k, member in enumerate(numbers):
                cause = _core.failure_cause(self.study._handle, int(member)) if k == 0 else ""
                rows.append((int(member), status, cause))
        made = pandas.DataFrame(rows, columns=["member", "status", "cause"])
        return made.set_index("member").sort_index()

    def _failed_members(self) -> dict[str, Any]:
        if "members.nc" not in self.files:
            examples: dict[str, Any] = self.summary["members"]["examples"]
            return {status: numbers for status, numbers in examples.items() if status not in ("ok", "stopped")}
        words = self.members["status"].attrs["flag_meanings"].split()
        status = np.asarray(self.members["status"])
        numbers = np.asarray(self.members["member"])
        found = {word: numbers[status == code] for code, word in enumerate(words) if word not in ("ok", "stopped")}
        return {word: members for word, members in found.items() if len(members)}

    # --- Showing and saving ---

    def report(self, path: Union[str, "os.PathLike[str]", None] = None) -> Report:
        """The report page; with ``path`` it is also written there."""
        if self._folder is not None:
            made = Report(_core.report_page(self._folder))
        else:
            with tempfile.TemporaryDirectory(prefix="zwang-") as scratch:
                folder = os.path.join(scratch, self.summary["study"])
                self.save(folder)
                made = Report(_core.report_page(folder))
        if path is not None:
            made.save(path)
        return made

    def save(self, folder: Union[str, "os.PathLike[str]"], overwrite: bool = False) -> None:
        """Writes the files of the run, the bytes that ``zwang run`` writes.

        >>> import tempfile, zwang
        >>> result = zwang.run("bouncing_ball", members=20, progress=False)
        >>> with tempfile.TemporaryDirectory() as scratch:
        ...     result.save(scratch + "/ball")
        ...     zwang.open(scratch + "/ball").summary == result.summary
        True
        """
        _core.save_files(os.fspath(folder), [(name, self._bytes(name)) for name in self.files], overwrite)

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()

    def __repr__(self) -> str:
        summary, members = self.summary, self.summary["members"]
        where = f"in {self._folder}" if self._folder is not None else "in memory"
        lines = [f"<zwang.Result {summary['study']}: {members['integrated']} members, {members['failed']} failed; "
                 f"{summary['backend']['name']}, {', '.join(self.files)} {where}>"]
        for name, measure in list((summary.get("measures") or {}).items())[:20]:
            mean, error = measure.get("mean"), measure.get("stderr")
            if isinstance(mean, (int, float)):
                lines.append(f"  {name}: mean {mean:.6g}" + (f" ± {error:.2g}" if isinstance(error, float) else ""))
        return "\n".join(lines)

    def __getstate__(self) -> dict[str, Any]:
        # Datasets are read again.
        return {"_study": self._study, "_files": self._files, "_folder": self._folder}


def open_results(folder: Union[str, "os.PathLike[str]"]) -> Result:
    """The results in a folder, written by ``zwang run``, :func:`zwang.run` or :meth:`zwang.Result.save`.

    >>> import tempfile, zwang
    >>> with tempfile.TemporaryDirectory() as scratch:
    ...     zwang.run("bouncing_ball", members=20, progress=False, folder=scratch + "/ball")
    ...     print(zwang.open(scratch + "/ball").statistics.sizes["time"] > 1)
    <zwang.Result bouncing_ball: ...
    True
    """
    path = os.fspath(folder)
    if not os.path.isdir(path):
        _core.refuse(path, "there is no such folder", path, "the folder of the results of a run")
    if not os.path.exists(os.path.join(path, "summary.json")):
        _core.refuse(path, "the folder holds no complete results", "no summary.json", "the folder of the results of a run",
                     "an interrupted run is continued by zwang.run(study, folder=..., resume=True)")
    return Result._of_folder(path)
