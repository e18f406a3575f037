"""Runs member 0 of every study in configs/ at tolerances from 1e-4 to 1e-12 and writes docs/convergence.md.

    python3 docs/convergence.py --zwang build/release/zwang                   # writes docs/convergence.md
    python3 docs/convergence.py --zwang build/release/zwang --check STUDY ... # writes nothing; exit code 1 if one is marked

The error of a run is its largest distance from the reference at rtol = 1e-13, over all output times before the motion becomes
chaotic. docs/convergence.md states the definitions.
"""

import argparse
import bisect
import json
import math
import os
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOLERANCES = [1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12]
FINEST = 1e-13
SMALL = 1e-3  # a coordinate that stays small beside the others is measured by this share of the largest of its kind
CHAOTIC = 1e-9  # relative distance of the finest runs
BACKENDS = ["reference", "cpu"]
JUMPS = {"shock", "impulse", "imposed", "accumulation"}
# A row is marked where an error exceeds ALLOWED times the tolerance times the growth of the motion's own errors, or where it
# exceeds RISE times the error at a coarser tolerance.
ALLOWED, RISE = 100, 10
NOISE = 1e-11  # errors below this, or below RISE times the distance of the finest runs, are not compared with each other


class Run:
    """One member's states at the output times."""

    def __init__(self, answer):
        self.status = answer["status"]
        self.t = answer["t"]
        self.answer = answer
        # Positions, velocities and auxiliary states, each as a list of coordinates by output time.
        self.groups = [list(answer[part].values()) for part in ("state", "velocity", "auxiliary")]
        sizes = [[max(map(abs, values), default=0) for values in group] for group in self.groups]
        self.scales = [[max(size, SMALL * max(group)) for size in group] for group in sizes]
        self.jumps = sorted(one["t"] for one in answer["events"] if one["kind"] in JUMPS)


class Study:
    def __init__(self, zwang, name):
        self.zwang, self.path = zwang, ROOT / "configs" / f"{name}.toml"
        with open(self.path, "rb") as file:
            self.document = tomllib.load(file)

    def replay(self, backend, tolerance, sets=()):
        settings = self.document.get("integrator", {})
        # The ratio of atol to rtol is the study's own: it says how small its quantities are.
        ratio = settings.get("atol", 1e-9) / settings.get("rtol", 1e-9)
        line = [self.zwang, "replay", str(self.path), "--json", "--member", "0", "--backend", backend]
        for one in (f"integrator.rtol={tolerance:g}", f"integrator.atol={tolerance * ratio:g}", *sets):
            line += ["--set", one]
        done = subprocess.run(line, capture_output=True, text=True)
        if done.returncode not in (0, 3):
            sys.exit(f"{' '.join(line)}\n{done.stderr}")
        return Run(json.loads(done.stdout))

    def variants(self, truth):
        """The finest run with another tolerance, with bounded steps, and from a start moved by the finest tolerance."""
        yield self.replay("reference", 2 * FINEST)
        yield self.replay("reference", FINEST, [f"integrator.max_step={truth.t[-1] / 7.3:g}"])
        # Velocities are given as numbers only where the start is drawn as a whole: an impulse at t = 0 would be added twice.
        for keys in (["position"], ["position", "velocity"]):
            run = self.replay("reference", FINEST, self.moved_start(truth, keys)) if truth.t[0] == 0 else None
            if run and run.t and distances(run, truth, 0)[0] < CHAOTIC:
                yield run
                return

    def moved_start(self, truth, keys):
        """Every position moved by the finest tolerance of its size, up and down in turn; velocities as they are."""
        start, velocity = ({name: values[0] for name, values in truth.answer[part].items()} for part in ("state", "velocity"))
        least = SMALL * max(abs(value) for value in start.values())
        moved = {name: value + (-1) ** k * FINEST * max(abs(value), least) for k, (name, value) in enumerate(start.items())}
        for k, point in enumerate(self.document.get("point", [])):
            names = [name for name in (f"{point['name']}.{axis}" for axis in "xyz") if name in moved]
            for key in keys:
                values = moved if key == "position" else velocity
                yield f"point.{k}.{key}=[{', '.join(repr(values[name]) for name in names)}]"
        for k, coordinate in enumerate(self.document.get("coordinate", [])):
            for key in keys:
                values = moved if key == "position" else velocity
                yield f"coordinate.{k}.{key}={values[coordinate['name']]!r}"


def near_jump(t, jumps, margin):
    at = bisect.bisect_left(jumps, t)
    return any(abs(t - jump) <= margin for jump in jumps[max(at - 1, 0):at + 1])


def is_clear(k, run, truth, tolerance):
    """Whether no jump is near output time k: near a jump the values before and after it are equally right."""
    t = truth.t[k]
    gaps = [abs(t - other) for other in truth.t[max(k - 1, 0):k + 2] if other != t]
    margin = min([100 * tolerance * max(1, t), *(gap / 2 for gap in gaps)])
    return not near_jump(t, truth.jumps, margin) and not near_jump(t, run.jumps, margin)


def distances(run, truth, tolerance):
    """The distance at each output time that both reach, relative to the size of the motion; NaN where a jump is near."""
    made = []
    for k in range(min(len(run.t), len(truth.t))):
        largest = 0.0
        for scales, one, other in zip(truth.scales, run.groups, truth.groups):
            for scale, a, b in zip(scales, one, other):
                apart = abs(a[k] - b[k])
                largest = max(largest, apart / scale if scale > 0 else math.inf if apart > 0 else 0)
        made.append(largest if is_clear(k, run, truth, tolerance) else math.nan)
    return made


def largest_of(apart):
    return max((one for one in apart if one == one), default=math.nan)


class Row:
    def __init__(self, name, zwang):
        study = Study(zwang, name)
        self.name = name
        truth = study.replay("reference", FINEST)
        self.status = truth.status
        self.end = truth.t[-1] if truth.t else 0
        variants = [distances(run, truth, FINEST) for run in study.variants(truth)] if truth.t else []
        apart = [largest_of(together) for together in zip(*variants)]
        self.count = next((k for k, one in enumerate(apart) if one > CHAOTIC), len(apart))
        self.chaotic = self.count < len(apart)
        self.until = truth.t[self.count - 1] if self.count > 0 else 0
        # How much the motion itself enlarges an error, as far as the finest runs show it.
        spread = largest_of(apart[:self.count])
        self.growth = max(1.0, spread / FINEST) if spread == spread else 1.0
        self.noise = max(NOISE, RISE * spread) if spread == spread else NOISE
        self.errors, self.marks = {}, []
        for backend in BACKENDS:
            runs = [study.replay(backend, tolerance) for tolerance in TOLERANCES]
            self.errors[backend] = [self.error(run, truth, tolerance) for run, tolerance in zip(runs, TOLERANCES)]
            self.marks += [f"{backend}: {mark}" for mark in self.failures(self.errors[backend], runs, truth)]

    def error(self, run, truth, tolerance):
        return largest_of(distances(run, truth, tolerance)[:self.count])

    def failures(self, errors, runs, truth):
        for k, (tolerance, error, run) in enumerate(zip(TOLERANCES, errors, runs)):
            if run.status != truth.status:
                yield f"{run.status} at {tolerance:g}, {truth.status} at {FINEST:g}"
            if error > ALLOWED * tolerance * self.growth and error > self.noise:
                yield f"{error:.1e} at {tolerance:g}"
            best = min((e for e in errors[:k] if e == e), default=math.inf)
            if error > RISE * max(best, self.noise):
                yield f"{error:.1e} at {tolerance:g} is more than {best:.1e} before"


def short(error):
    """One digit; 0 for a difference of nothing, a dash where there is no state to compare."""
    if error != error:
        return "–"
    return "0" if error == 0 else f"{error:.0e}".replace("e-0", "e-").replace("e+00", "")


def mark(row, backend):
    if any(one.startswith(backend + ":") for one in row.marks):
        return "yes"
    beyond = any(error > max(ALLOWED * tolerance, NOISE) for tolerance, error in zip(TOLERANCES, row.errors[backend]))
    return "growth" if beyond else ""


def page(rows):
    lines = ["# Convergence", "",
             "Written by `python3 docs/convergence.py --zwang build/release/zwang` (`./dev converge`); do not edit.", "",
             "Member 0 of every study in `configs/`, with the study's own method (`auto` where it names none), at rtol = 1e-4 to 1e-12 and",
             "atol in the study's own ratio to rtol. A number is the largest distance from the reference at rtol = 1e-13, over positions,",
             "velocities and auxiliary states at the output times, relative to the largest value of the coordinate along the motion (at",
             "least a thousandth of the largest of its kind). Output times within 100 tolerances of a jump of the velocities are left",
             "out: there the values before and after it are equally right.", "",
             "*until* is the last output time compared. The finest run is repeated with twice its tolerance, with bounded steps, and from",
             f"a start moved by 1e-13; where any of these is {CHAOTIC:g} from it the motion counts as chaotic, and nothing later is",
             "compared (an asterisk: earlier than the end). *growth* is their largest distance up to there in units of 1e-13: how much the",
             "motion itself enlarges an error.", "",
             f"A row is marked *yes* where an error exceeds {ALLOWED} tolerances times the growth, where it exceeds {RISE} times the error at a",
             f"coarser tolerance, or where the status differs from that of the finest run, and *growth* where an error exceeds {ALLOWED}",
             f"tolerances but not {ALLOWED} tolerances times the growth. Errors below {NOISE:g}, or below {RISE} times the distance of the finest runs, are",
             "not compared with each other.", "",
             "A row that is small and equal at several tolerances is one whose steps do not depend on them: free flight without drag is",
             "integrated exactly, and `galton_board` takes the same number of steps from 1e-4 to 1e-11.", "",
             f"{len(rows)} studies, {sum(1 for row in rows if row.marks)} marked.", "",
             "| study | until | growth | backend | " + " | ".join(f"{one:.0e}".replace("e-0", "e-") for one in TOLERANCES) + " | marked |",
             "|---|---|---|---|" + "---|" * (len(TOLERANCES) + 1)]
    for row in rows:
        until = f"{row.until:g}{'*' if row.chaotic else ''}" if row.status == "ok" or row.count > 0 else row.status
        for backend in BACKENDS:
            head = f"| {row.name} | {until} | {row.growth:.0g} |" if backend == BACKENDS[0] else "| | | |"
            errors = " | ".join(short(one) for one in row.errors[backend])
            lines.append(f"{head} {backend} | {errors} | {mark(row, backend)} |")
    marked = [f"- `{row.name}`: {one}" for row in rows for one in row.marks]
    return "\n".join([*lines, *(["", "## Marked", "", *marked] if marked else [])]) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--zwang", required=True)
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a study is marked")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="studies run at the same time")
    parser.add_argument("study", nargs="*", help="names of studies in configs/; all of them by default (with --check only)")
    options = parser.parse_args()
    if options.study and not options.check:
        parser.error("the page has all studies; names are for --check")
    names = options.study or sorted(path.stem for path in (ROOT / "configs").glob("*.toml"))
    zwang = str(Path(options.zwang).resolve())
    with ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(lambda name: Row(name, zwang), names))
    marked = [f"{row.name}: {one}" for row in rows for one in row.marks]
    if not options.check:
        (ROOT / "docs" / "convergence.md").write_text(page(rows))
    print("\n".join([*marked, f"{len(rows)} studies, {sum(1 for row in rows if row.marks)} marked"]))
    sys.exit(1 if options.check and marked else 0)


main()
