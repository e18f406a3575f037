"""Follows work on another thread: progress, notes, and Ctrl-C."""
from __future__ import annotations

import atexit
import logging
import os
import shutil
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, Union

from . import _core
from ._errors import BackendWarning

log = logging.getLogger("zwang")

# True: tqdm where it is installed, else a line on standard error. A function gets members done and members in all.
Progress = Union[bool, Callable[[int, int], None]]

_seconds_between_polls = 0.1
# A batch takes a fifth of a second. Work that takes longer to stop, such as a compilation, is left to its thread.
_seconds_to_stop = 0.7
_seconds_before_bar = 0.5
_seconds_between_lines = 5.0

# Work that was interrupted and has not ended: the job, the folder it writes to, and a folder to remove after it.
_left: list[tuple[_core.Job, str | None, str | None]] = []
# Work that some thread follows.
_followed: list[_core.Job] = []


class _Display:
    """Shows the progress of a job once it has taken half a second."""

    def __init__(self, wanted: Progress, unit: str) -> None:
        self._wanted, self._unit = wanted, unit
        self._begun = self._shown = time.monotonic()
        self._bar: Any = None
        self._line = False

    def show(self, done: int, of: int) -> None:
        if callable(self._wanted):
            self._wanted(done, of)
        elif self._wanted and of > 0 and time.monotonic() - self._begun > _seconds_before_bar:
            self._show_bar(done, of)

    def _show_bar(self, done: int, of: int) -> None:
        if self._bar is None and not self._line:
            try:
                from tqdm.auto import tqdm

                self._bar = tqdm(total=of, unit=" " + self._unit, unit_scale=True, leave=False)
            except ImportError:
                self._line = True
        if self._bar is not None:
            self._bar.update(done - self._bar.n)
            return
        on_terminal = sys.stderr.isatty()
        if on_terminal or time.monotonic() - self._shown > _seconds_between_lines:
            self._shown = time.monotonic()
            text = f"zwang: {done} of {of} {self._unit}s"
            print("\r" + text if on_terminal else text, end="" if on_terminal else "\n", file=sys.stderr, flush=True)

    def show_end(self, done: int, of: int) -> None:
        """The last state, for a function."""
        if callable(self._wanted):
            self._wanted(done, of)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        elif self._line and sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _pass_on_notes(job: _core.Job) -> None:
    for text in job.take_notes():
        if text.startswith("WARNING"):
            warnings.warn(text.removeprefix("WARNING: "), BackendWarning, stacklevel=5)
        else:
            log.info("%s", text)


def follow(job: _core.Job, progress: Progress = False, unit: str = "member", folder: str | None = None,
           scratch: str | None = None, interrupted: str = "") -> dict[str, str]:
    """Waits for a job and returns its texts. ``folder``: where it writes; ``scratch``: removed with it."""
    _followed.append(job)
    try:
        _wait(job, _Display(progress, unit), folder, scratch, interrupted)
        return job.finish()
    finally:
        _followed.remove(job)


def _wait(job: _core.Job, display: _Display, folder: str | None, scratch: str | None, interrupted: str) -> None:
    try:
        while not job.wait(_seconds_between_polls):
            done, of, _, _ = job.progress()
            display.show(done, of)
            _pass_on_notes(job)
        _pass_on_notes(job)
        display.show_end(*job.progress()[:2])
    except BaseException as reason:
        # Noted first: a second Ctrl-C may end the wait.
        _left.append((job, folder and os.path.realpath(folder), scratch))
        job.stop()
        job.wait(_seconds_to_stop)
        clear_left()
        if isinstance(reason, KeyboardInterrupt) and interrupted:
            raise KeyboardInterrupt(interrupted) from None
        raise
    finally:
        display.close()


def wait_for_left(folder: str) -> None:
    """Waits until no interrupted run writes to the folder: its last members are being saved."""
    place = os.path.realpath(folder)
    for job, own, _ in list(_left):
        while own == place and not job.wait(_seconds_between_polls):
            pass
    clear_left()


def clear_left() -> None:
    """Forgets interrupted work that has ended, and removes its folders."""
    for entry in list(_left):
        job, _, scratch = entry
        if job.wait(0):
            _left.remove(entry)
            if scratch:
                shutil.rmtree(scratch, ignore_errors=True)


def is_left(scratch: str) -> bool:
    """Whether interrupted work still writes to the folder."""
    return any(own == scratch for _, _, own in _left)


@atexit.register
def _finish_left() -> None:
    # Also what daemon threads follow. They must return from the library before the interpreter ends them.
    for job in [*_followed, *(job for job, _, _ in _left)]:
        job.stop()
        while not job.wait(_seconds_between_polls):
            pass
    for _ in range(100):
        if not _followed:
            break
        time.sleep(0.02)
    clear_left()
    _core.finish_abandoned()
