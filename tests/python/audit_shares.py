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

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LAWS = ("energy", "constraints", "shocks")


def run(program, study, folder, members, options):
    """The members and the audit of summary.json, or the message of a run that failed."""
    made = subprocess.run(
        [program, "run", study, "--members", str(members), "--out", folder, "--overwrite", "--json",
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
