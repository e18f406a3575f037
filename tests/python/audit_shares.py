#!/usr/bin/env python3
"""Runs studies and tabulates the largest share of the audit's bound that any of their members uses.

    tests/python/audit_shares.py build/release/zwang FOLDER [--members 2000] [--studies configs/*.toml] -- [run options]

Writes the results below FOLDER and a Markdown table to standard output, the study with the largest share last. Exit
code 1: a member is inaccurate.
"""
import argparse
import glob
import json
import os
import subprocess
import sys
import tomllib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LAWS = ("energy", "constraints", "shocks")


def number_of_members(study, members):
    """The option that gives a study so many members: a sweep has them at each of its points, [sensitivity] in rows."""
    with open(study, "rb") as file:
        tables = tomllib.load(file)
    if "sensitivity" in tables:
        rows = max(64, members // 10)
        return ["--set", f"sensitivity.base={rows}"]
    points = 1
    for sweep in sweeps_of(tables):
        points *= sweep[2] if isinstance(sweep, list) else sweep.get("count") or len(sweep["values"])
    if points == 1:
        return ["--members", str(members)]
    drawn = "members_per_point" in tables.get("ensemble", {})
    return ["--set", f"ensemble.members_per_point={max(1, members // points)}"] if drawn else []


def sweeps_of(value):
    """All values { sweep = .. } in the tables of a study."""
    if isinstance(value, dict):
        if set(value) == {"sweep"}:
            return [value["sweep"]]
        value = list(value.values())
    return [found for part in value for found in sweeps_of(part)] if isinstance(value, list) else []


def run(program, study, folder, members, options):
    """The members and the audit of summary.json, or the message of a run that failed."""
    made = subprocess.run(
        [program, "run", study, *number_of_members(study, members), "--yes", "--out", folder, "--overwrite", "--json",
         "--max-failed", "100%", *options], capture_output=True, text=True)
    if made.returncode != 0:
        return made.stderr.strip().splitlines()[-1] if made.stderr.strip() else f"exit code {made.returncode}"
    summary = json.loads(made.stdout)
    return summary["members"], summary["audit"]


def row(name, members, audit):
    shares = audit["worst_share"] or {law: {"share": 0, "member": None} for law in LAWS}
    cells = [name, str(members["integrated"]), str(members["failed"]),
             str(members["status"].get("inaccurate", 0))]
    for law in LAWS:
        worst = shares[law]
        cells.append(f"{worst['share']:.1e} ({worst['member']})" if worst["share"] else "0")
    return max(shares[law]["share"] for law in LAWS), cells


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("program")
    arguments.add_argument("folder")
    arguments.add_argument("--members", type=int, default=2000)
    arguments.add_argument("--studies", nargs="*")
    own, options = sys.argv[1:], []
    if "--" in own:
        own, options = own[:own.index("--")], own[own.index("--") + 1:]
    given = arguments.parse_args(own)
    rows, inaccurate = [], 0
    for study in given.studies or sorted(glob.glob(os.path.join(ROOT, "configs", "*.toml"))):
        name = os.path.splitext(os.path.basename(study))[0]
        print(name, file=sys.stderr, flush=True)
        made = run(given.program, study, os.path.join(given.folder, name), given.members, options)
        if isinstance(made, str):
            rows.append((float("inf"), [name, made, "", "", "", "", ""]))
            continue
        inaccurate += made[0]["status"].get("inaccurate", 0)
        rows.append(row(name, *made))
    print("| study | members | failed | inaccurate | energy (member) | constraints (member) | shocks (member) |")
    print("|---|---|---|---|---|---|---|")
    for _, cells in sorted(rows):
        print("| " + " | ".join(cells) + " |")
    sys.exit(1 if inaccurate else 0)


if __name__ == "__main__":
    main()
