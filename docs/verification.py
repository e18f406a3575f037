"""Runs cases with known answers and writes docs/verification.md: case, source, expected, computed, digits.

    python3 docs/verification.py --zwang build/release/zwang            # writes docs/verification.md
    python3 docs/verification.py --zwang build/release/zwang --check    # writes nothing; exit code 1 if a digit was lost

Expected numbers are closed forms, or digits of worked examples in the sources, as quoted by the studies in configs/; none
comes from a run. The reference integrates unless --backend names another backend.
"""

import argparse
import json
import math
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FINE = ["integrator.rtol=1e-13", "integrator.atol=1e-13"]


class Zwang:
    def __init__(self, program, backend):
        self.program, self.backend = program, backend

    def ask(self, command, study, sets, *more):
        line = [self.program, command, str(ROOT / "configs" / f"{study}.toml"), "--json", *more]
        for one in sets:
            line += ["--set", one]
        done = subprocess.run(line, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{' '.join(line)}\n{done.stderr}")
        return json.loads(done.stdout)

    def replay(self, study, sets=()):
        return self.ask("replay", study, [*FINE, *sets], "--member", "0", "--backend", self.backend)


def event(run, kind, number=0):
    return [one for one in run["events"] if one["kind"] == kind][number]


def at(t, name, part="state"):
    """A coordinate at an output time of the study."""
    return lambda run: run[part][name][min(range(len(run["t"])), key=lambda i: abs(run["t"][i] - t))]


def explained(name):
    return lambda answer: next(one for one in answer["constraints"] if one["name"] == name)["multiplier"]


root3, e = math.sqrt(3), math.e

# (case, source, study, overrides, function that reads the value, expected, digits required)
REPLAYS = [
    ("string goes slack", "Mayer 1899 I §4", "string_pendulum", [], lambda r: event(r, "release")["t"], 1.509650416463988, 10),
    ("string snaps, impulse", "Mayer 1899 II §2", "string_pendulum", [], lambda r: event(r, "shock")["impulse"]["string"], math.sqrt(27 / 8), 10),
    ("string snaps, energy lost", "Mayer 1899 II §2", "string_pendulum", [], lambda r: event(r, "shock")["energy_lost"], 27 / 16, 10),
    ("string pendulum, x at 10", "elliptic integrals", "string_pendulum", [], at(10, "p.x"), 0.101701230906790, 9),
    ("bouncing ball, first impact", "closed form", "bouncing_ball", [], lambda r: event(r, "shock")["t"], math.sqrt(2 / 9.81), 11),
    ("bouncing ball, at rest", "closed form", "bouncing_ball", [], lambda r: event(r, "accumulation")["t"], 9 * math.sqrt(2 / 9.81), 7),
    ("three balls, second collision", "McNamara, Young 1992", "three_balls", [], lambda r: event(r, "shock", 1)["t"], 61 / 21, 11),
    ("three balls, collapse", "McNamara, Young 1992", "three_balls", [], lambda r: event(r, "accumulation")["t"], 3.5, 7),
    ("knife edge, x at 3", "Neimark, Fufaev 1972", "knife_edge", ["time.end=3"], lambda r: r["final"]["state"]["x"], 0.625 * math.sin(6) ** 2, 10),
    ("knife edge, y at 3", "Neimark, Fufaev 1972", "knife_edge", ["time.end=3"], lambda r: r["final"]["state"]["y"], 0.625 * (6 - math.sin(12) / 2), 10),
    ("cart, x at 4", "Maurer 1905 no. 8", "cart", ["time.end=4"], lambda r: r["final"]["state"]["x"], 4 / 3 * math.sin(6), 10),
    ("two strings jerk, energy lost", "Mayer 1899 II §2", "chain_jerk", [], lambda r: event(r, "shock")["energy_lost"], 114 / 29, 12),
    ("two strings jerk, impulse of string_12", "Mayer 1899 II §2", "chain_jerk", [], lambda r: event(r, "shock")["impulse"]["string_12"], 67 / 58 * math.sqrt(8), 12),
    ("string jerk, impulse", "Mayer 1899 II §2", "string_jerk", [], lambda r: max(event(r, "shock")["impulse"].values()), 72 / 25, 10),
    ("string jerk, e = 1/2", "Mayer 1899 II §2", "string_jerk", ["parameters.e=0.5"], lambda r: max(event(r, "shock")["impulse"].values()), 108 / 25, 10),
    ("moving ring, inner y' at 3", "Mayer 1899 II §3", "moving_ring", ["time.end=3"], lambda r: r["final"]["velocity"]["inner.y"], 1.45413612060038, 9),
    ("moving ring, outer y at 3", "Mayer 1899 II §3", "moving_ring", ["time.end=3"], lambda r: r["final"]["state"]["outer.y"], 2.81458256229943, 9),
    ("corner, captured", "Mayer 1899 I §4", "corner_capture", [], lambda r: event(r, "shock")["t"], math.sqrt(2), 11),
    ("corner, rest with e = 1/2", "closed form", "corner_capture", ["parameters.e=0.5"], lambda r: event(r, "accumulation")["t"], 3 * math.sqrt(2), 7),
    ("dumbbell seized, energy lost", "Mayer 1899 II §2", "dumbbell_seized", [], lambda r: [one for one in r["events"] if one.get("energy_lost")][0]["energy_lost"], 127 / 50, 10),
    ("sphere, leaves at", "closed form", "sphere_slide", [], lambda r: event(r, "release")["t"], 2.83433305006829, 9),
]
OTHERS = [
    ("point in a sphere, pressed: λ", "Mayer 1899 I §3", "explain", "point_in_sphere", [], lambda answer: answer["constraints"][0]["multiplier"], 577 / 25, 12),
    ("flutter, growth rate", "Voss 1884 (8)", "modes", "small_oscillations", [], lambda answer: max(answer["growth_rates"]), 0.228209835326208, 11),
    ("flutter, frequency", "Voss 1884 (8)", "modes", "small_oscillations", [], lambda answer: answer["frequencies_rad_s"][0], 1.07334977008411, 11),
    ("stable, lower frequency", "Voss 1884 (8)", "modes", "small_oscillations", ["parameters.k2=4"], lambda answer: min(answer["frequencies_rad_s"]), 1.04201076655997, 11),
]


def digits(got, expected):
    off = abs(got - expected) / abs(expected)
    return 16 if off == 0 else min(16, int(-math.log10(off)))


def rows(zwang):
    runs = {}
    for case, source, study, sets, read, expected, wanted in REPLAYS:
        key = (study, *sets)
        if key not in runs:
            runs[key] = zwang.replay(study, sets)
        yield case, source, f"replay {study}", expected, read(runs[key]), wanted
    for case, source, command, study, sets, read, expected, wanted in OTHERS:
        yield case, source, f"{command} {study}", expected, read(zwang.ask(command, study, sets)), wanted


def page(made, backend):
    lines = ["# Verification", "",
             "Written by `python3 docs/verification.py --zwang build/release/zwang` (`./dev verify`); do not edit. Expected values are",
             f"closed forms or digits of the sources; computed values come from the {backend} at rtol = 1e-13; digits is the number of digits",
             "that agree. `tests/cases` holds many more cases, and ensembles compared by their standard errors.", "",
             "| case | source | command | expected | computed | digits |", "|---|---|---|---|---|---|"]
    for case, source, command, expected, got, _ in made:
        lines.append(f"| {case} | {source} | `{command}` | {expected:.15g} | {got:.15g} | {digits(got, expected)} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--zwang", required=True)
    parser.add_argument("--backend", default="reference")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    made = list(rows(Zwang(str(Path(options.zwang).resolve()), options.backend)))
    lost = [(case, expected, got) for case, _, _, expected, got, wanted in made if digits(got, expected) < wanted]
    for case, expected, got in lost:
        print(f"{case}: expected {expected:.15g}, got {got:.15g}")
    if not options.check:
        (ROOT / "docs" / "verification.md").write_text(page(made, options.backend))
    print(f"{len(made)} cases, {len(lost)} with too few digits")
    sys.exit(1 if lost else 0)


main()
