"""Kills runs of one study at random times, resumes each, and compares every file with an undisturbed run.

    kill_and_resume.py PROGRAM STUDY FOLDER [--kills 100] [--seed 1] [--launcher "mpirun -n 3"] -- OPTIONS OF RUN

Files must be byte-identical; in summary.json, everything except `performance`. Exit code 1 if a file differs.
"""
import argparse
import json
import pathlib
import random
import shlex
import shutil
import signal
import subprocess
import sys
import time


def contents(folder):
    """All files in the folder, including hidden ones; the summary without its times."""
    found = {}
    for path in sorted(folder.iterdir()):
        data = path.read_bytes()
        if path.name == "summary.json":
            summary = json.loads(data)
            del summary["performance"]
            data = json.dumps(summary).encode()
        found[path.name] = data
    return found


def differences(found, expected):
    return sorted(name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name))


def main():
    arguments = sys.argv[1:]
    options = []
    if "--" in arguments:
        cut = arguments.index("--")
        arguments, options = arguments[:cut], arguments[cut + 1:]
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("study")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--launcher", default="")
    given = parser.parse_args(arguments)
    command = shlex.split(given.launcher) + [given.program, "run", given.study, "--quiet", *options]

    def run(out, *more):
        return subprocess.Popen([*command, "--out", str(out), *more])

    def must_end_well(out, *more):
        process = run(out, *more)
        if process.wait() != 0:
            sys.exit(f"{out}: exit code {process.returncode}")

    given.folder.mkdir(parents=True, exist_ok=True)
    whole = given.folder / "whole"
    shutil.rmtree(whole, ignore_errors=True)
    must_end_well(whole)  # compiles the study once
    shutil.rmtree(whole)
    begun = time.monotonic()
    must_end_well(whole)
    seconds = time.monotonic() - begun
    expected = contents(whole)

    moment = random.Random(given.seed)
    killed = resumed = differing = 0
    while killed < given.kills:
        out = given.folder / "killed"
        shutil.rmtree(out, ignore_errors=True)
        begun = time.monotonic()
        process = run(out)
        try:
            process.wait(timeout=moment.uniform(0, seconds))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        if process.wait() == 0:
            # the machine is less busy than when the run was timed
            seconds = min(seconds, time.monotonic() - begun)
            continue
        killed += 1
        resumed += (out / ".checkpoint").exists()
        must_end_well(out, "--resume")
        other = differences(contents(out), expected)
        differing += bool(other)
        if other:
            print(f"kill {killed}: differing: {', '.join(other)}", flush=True)
        if killed % 10 == 0:
            print(f"{killed} kills, {resumed} with a checkpoint to resume, {differing} differing", flush=True)
    print(f"{killed} kills, {resumed} with a checkpoint to resume, {differing} differing; "
          f"a run left alone took {seconds:.1f} s")
    sys.exit(1 if differing else 0)


main()
