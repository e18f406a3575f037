#!/usr/bin/env python3
"""Seconds from an empty cache to the first result, study by study.

    python3 bench/cold_start.py --zwang build/release/zwang --backend cpu
    python3 bench/cold_start.py --backend cuda configs/slung_load.toml --limit 6

Every study runs two members with a cache folder of its own. `wall` is the time of the whole command, `compile` its
share for the program (summary.json), `cpu` the processor time of zwang and the compilers: on a busy machine compare
`cpu`. With --limit the exit code is 1 if a study takes longer than that many seconds.
"""

import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def start(zwang, backend, study):
    """Runs one study; returns wall, compile and processor seconds, or None and the message of the failure."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "results"
        command = [zwang, "run", study, "--backend", backend, "--members", "2", "--out", out, "--quiet"]
        environment = dict(os.environ, ZWANG_CACHE=str(pathlib.Path(folder) / "cache"))
        before, begun = processor_seconds(), time.monotonic()
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        wall, cpu = time.monotonic() - begun, processor_seconds() - before
        # Exit code 3: members have failed, which is an answer too.
        if done.returncode not in (0, 3):
            return None, done.stderr.strip().splitlines()[:1]
        performance = json.loads((out / "summary.json").read_text())["performance"]
        return (wall, performance["compile_s"], cpu), None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("studies", nargs="*", type=pathlib.Path, help="study files (default: configs/ and bench/)")
    parser.add_argument("--zwang", default=ROOT / "build/release/zwang", type=pathlib.Path)
    parser.add_argument("--backend", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--limit", type=float, default=float("inf"), help="largest accepted wall time in seconds")
    options = parser.parse_args()
    studies = options.studies or sorted((ROOT / "configs").glob("*.toml")) + sorted((ROOT / "bench").glob("*.toml"))

    worst, failed = 0.0, 0
    print(f"{'study':34} {'wall':>7} {'compile':>7} {'cpu':>7}")
    for study in studies:
        measured, message = start(options.zwang, options.backend, study)
        if measured is None:
            failed += 1
            print(f"{study.stem:34} failed: {' '.join(message)}", flush=True)
            continue
        worst = max(worst, measured[0])
        print(f"{study.stem:34} {measured[0]:7.2f} {measured[1]:7.2f} {measured[2]:7.2f}", flush=True)
    print(f"slowest {worst:.2f} s, {failed} failed")
    return 1 if failed or worst > options.limit else 0


if __name__ == "__main__":
    sys.exit(main())
