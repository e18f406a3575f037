"""Runs every command line of README.md and docs/*.md, so that all of them keep working.

    python3 run_documented_commands.py --zwang build/release/zwang --root .

Command lines are those in ```sh blocks and the indented ones that begin with `zwang` or `python3`. They run
unchanged, in order, file by file, each file in its own folder with configs/, docs/ and bench/. Only sizes are reduced:
--members to at most 50, and the seconds of a bench. `./dev` and `cmake` lines are skipped: they build and install, and
this script runs inside a test; so are `pip` lines. Exit code 1 if a command fails.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

MEMBERS = 50


def command_lines(text):
    inside, found = False, []
    for line in text.splitlines():
        if line.startswith("```"):
            inside = line.strip() == "```sh"
        elif inside and line.strip() and not line.lstrip().startswith("#"):
            found.append(line.strip())
        elif re.match(r"    (zwang|python3) ", line):
            found.append(line.strip())
    return found


def smaller(line):
    """The same command with fewer members and seconds."""
    line = line.split("  #")[0].strip()
    words = shlex.split(line)
    if words[0] != "zwang" or len(words) < 2:
        return line
    if words[1] == "run":
        line = re.sub(r" --members \S+", "", line) + f" --members {MEMBERS} --max-failed 1"
    if words[1] == "bench":
        line = re.sub(r" --seconds \S+", "", line) + " --seconds 0.05 --members 64 --threads 1"
    if words[1] == "check":
        line = re.sub(r" --sample \d+", "", line) + " --sample 4"
    return line


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--zwang", type=Path, required=True)
    parser.add_argument("--root", type=Path, required=True)
    options = parser.parse_args()
    root, failed, done = options.root.resolve(), 0, 0
    for page in [root / "README.md", *sorted((root / "docs").glob("*.md"))]:
        with tempfile.TemporaryDirectory() as folder:
            for name in ("configs", "docs", "bench", "examples"):
                (Path(folder) / name).symlink_to(root / name)
            tools = Path(folder) / "tools"
            tools.mkdir()
            (tools / "zwang").symlink_to(options.zwang.resolve())
            (tools / "python3").symlink_to(sys.executable)
            environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
            for line in command_lines(page.read_text()):
                if line.startswith(("./dev", "cmake", "cd build", "source", "sudo", "pip")):
                    continue
                run = subprocess.run(["bash", "-c", smaller(line)], cwd=folder, env=environment, capture_output=True, text=True)
                done += 1
                if run.returncode != 0:
                    failed += 1
                    print(f"{page.name}: {line}\n  exit code {run.returncode}\n  {run.stderr.strip()}")
    print(f"{done} commands, {failed} failed")
    sys.exit(1 if failed or not done else 0)


main()
