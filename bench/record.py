#!/usr/bin/env python3
"""Measures the benchmark studies and appends the results to bench/results/MACHINE/STUDY.csv.

    bench/record.py --zwang build/release/zwang --yardsticks build/release/yardsticks
    bench/record.py --zwang build/release/zwang --machine h200 --studies gpu_smooth gpu_impact
    bench/record.py --from saved.json --machine h200 --commit a2997cb --command "zwang bench ... --json"
    bench/record.py --self-test

bench/results/README.md explains the columns. Only the Python standard library is needed. `./dev bench --record` builds
the programs first and then calls this script.
"""

import argparse
import csv
import datetime
import json
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"

CPU_STUDIES = ("string", "double_pendulum", "chain10")
CUDA_STUDIES = ("gpu_smooth", "gpu_strings", "gpu_impact")
CUDA_MEMBERS = 1048576

# Each hand-written program is filed beside the study of the same physical system.
STUDY_OF_YARDSTICK = {
    "string": "string",
    "string_plain": "string",
    "double_pendulum": "double_pendulum",
    "chain10": "chain10",
    "chain10_tensions": "chain10",
}

COLUMNS = (
    "date commit study backend method precision threads lanes members kernel_seconds members_per_s steps_per_s "
    "steps rejected events compile_seconds command note"
).split()


def number(value):
    """Six significant digits: more than two runs of one machine have in common."""
    return f"{value:.6g}"


# --- Rows ---------------------------------------------------------------------------------------------------


def rows_of_bench(report, origin, precision):
    """One row for each line of `zwang bench --json`. `origin` holds date, commit, command and note."""
    rows = []
    for line in report["lines"]:
        # On a GPU the kernels are timed by the device; "seconds" would include copies to and from the host.
        seconds = line["device_seconds"] if line["device_seconds"] > 0 else line["seconds"]
        members_per_s = line["members"] / seconds
        rows.append(
            {
                **origin,
                "study": report["study"],
                "backend": line["backend"],
                "method": line["method"],
                "precision": precision,
                "threads": "" if line["backend"] == "cuda" else line["threads"],
                "lanes": "" if line["backend"] == "cuda" else line["lanes"],
                "members": line["members"],
                "kernel_seconds": number(seconds),
                "members_per_s": number(members_per_s),
                "steps_per_s": number(members_per_s * line["steps_per_member"]),
                "steps": number(line["steps_per_member"]),
                "rejected": number(line["rejected_per_member"]),
                "events": number(line["events_per_member"]),
                "compile_seconds": number(report["compile"]["cold_s"]),
            }
        )
    return rows


def rows_of_yardsticks(report, origin):
    """One row for each entry of `yardsticks --json`. The number of steps includes rejected ones there."""
    rows = []
    for entry in report:
        accuracy = f"true error {entry['error']:.1e} at tolerance {entry['tolerance']:.1e}"
        rows.append(
            {
                **origin,
                "study": entry["name"],
                "backend": "hand-written",
                "method": entry["method"],
                "precision": "double",
                "threads": 1,
                "lanes": 1,
                "members_per_s": number(entry["members_per_second"]),
                "steps_per_s": number(entry["members_per_second"] * entry["steps_per_member"]),
                "steps": number(entry["steps_per_member"]),
                "note": "; ".join(text for text in (accuracy, origin["note"]) if text),
            }
        )
    return rows


def precision_of(study, settings):
    """The precision a bench runs in: from --set, else from the study's text, else double."""
    texts = [study.read_text() if study.exists() else ""]
    texts += [setting.partition("integrator.")[2] for setting in settings]
    found = [re.search(r'^\s*precision\s*=\s*"?(single|double)', text, re.MULTILINE) for text in texts]
    return next((match[1] for match in reversed(found) if match), "double")


# --- Files --------------------------------------------------------------------------------------------------


def read_rows(path):
    """The rows of a file; none where there is no file. Refuses a file with other columns."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames != COLUMNS:
            raise SystemExit(f"{path}: its columns are {reader.fieldnames}, expected {COLUMNS}")
        return list(reader)


def append_rows(results, machine, rows):
    """Appends each row to the file of its study; returns the files written."""
    written = []
    for row in rows:
        path = results / machine / f"{STUDY_OF_YARDSTICK.get(row['study'], row['study'])}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        earlier = read_rows(path)
        print_row(row, previous_of(row, earlier))
        with path.open("a", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
            if not path.stat().st_size:
                writer.writeheader()
            writer.writerow(row)
        if path not in written:
            written.append(path)
    return written


def previous_of(row, earlier):
    """The latest earlier row of the same measurement. On a CPU the size of a batch is chosen by the clock."""
    same = ["study", "backend", "method", "precision", "threads", "lanes"]
    if row["backend"] == "cuda":
        same.append("members")

    def key(some):
        # How long was measured and in which form it was printed does not matter.
        command = re.sub(r" --seconds \S+| --json", "", some["command"])
        return [command, *(str(some.get(column, "")) for column in same)]

    matching = [old for old in earlier if key(old) == key(row)]
    return matching[-1] if matching else None


def print_row(row, previous):
    where = f"{row['backend']} {row['method']}"
    if row.get("lanes", "") != "":
        where += f", lanes: {row['lanes']}"
    text = f"{row['study']:<18}{where:<26}{float(row['members_per_s']):>12.4g} members/s"
    if previous and previous["members_per_s"]:
        change = float(row["members_per_s"]) / float(previous["members_per_s"]) - 1
        text += f"  {100 * change:+.1f} % since {previous['date']} ({previous['commit'] or 'commit unknown'})"
    print(text)


# --- This machine -------------------------------------------------------------------------------------------


def output_of(*command):
    """What a command prints; nothing where it does not exist or fails."""
    try:
        return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def folder_name(model):
    """NVIDIA H200 -> h200, Neoverse-N1 -> neoverse_n1, Intel(R) Xeon(R) CPU @ 2.20GHz -> intel_xeon_2_20ghz."""
    plain = re.sub(r"\((R|TM)\)|\bNVIDIA\b|\bCPU\b", " ", model, flags=re.IGNORECASE)
    return re.sub(r"[^a-z0-9]+", "_", plain.lower()).strip("_")


def processor_name():
    model = re.search(r"^Model name:\s*(.+)$", output_of("lscpu"), re.MULTILINE)
    return folder_name(model[1]) if model else "unknown_processor"


def device_name():
    """The first GPU; empty where no device answers."""
    names = output_of("nvidia-smi", "--query-gpu=name", "--format=csv,noheader").splitlines()
    return folder_name(names[0]) if names else ""


def commit_of_tree():
    """The commit of the sources; changed records alone do not make the tree dirty."""
    commit = output_of("git", "rev-parse", "--short", "HEAD")
    dirty = output_of("git", "status", "--porcelain", "--", ".", ":!bench/results")
    return commit + "+dirty" if commit and dirty else commit


# --- Measuring ----------------------------------------------------------------------------------------------


def run_json(program, arguments):
    """Runs a program from the repository's root; returns its JSON and the command as it is recorded."""
    shown = shlex.join([program.name, *arguments])
    print(f"$ {shown}", flush=True)
    run = subprocess.run([program.resolve(), *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if run.returncode != 0:
        raise SystemExit(f"{shown}: exit code {run.returncode}")
    return json.loads(run.stdout), shown


def measure_study(options, study, origin):
    path = f"bench/{study}.toml"
    if study in CUDA_STUDIES and options.backend != "cpu":
        chosen = ["--backend", "cuda", "--members", str(CUDA_MEMBERS)]
    else:
        chosen = ["--backend", "cpu", "--threads", "1"]
    settings = [word for setting in options.set for word in ("--set", setting)]
    report, command = run_json(options.zwang, ["bench", path, *chosen, "--seconds", options.seconds, *settings, "--json"])
    return rows_of_bench(report, {**origin, "command": command}, precision_of(ROOT / path, options.set))


def measure(options):
    """Yields the folder and the rows of each program run."""
    origin = {"date": options.date, "commit": options.commit or commit_of_tree(), "note": options.note}
    device = device_name() if options.backend != "cpu" else ""
    studies = options.studies or [*CPU_STUDIES, *(CUDA_STUDIES if device or options.backend == "cuda" else ())]
    if options.yardsticks:
        report, command = run_json(options.yardsticks, ["--seconds", options.seconds, "--json"])
        yield options.machine or processor_name(), rows_of_yardsticks(report, {**origin, "command": command})
    for study in studies:
        rows = measure_study(options, study, origin)
        measured = (device or "unknown_gpu") if rows[0]["backend"] == "cuda" else processor_name()
        yield options.machine or measured, rows


def rows_of_saved(options):
    """Rows of a `zwang bench --json` that was saved, for instance on a machine without this repository."""
    report = json.loads(options.saved.read_text())
    origin = {"date": options.date, "commit": options.commit, "command": options.command, "note": options.note}
    machine = options.machine or (folder_name(report["gpu"]["device"]) if "gpu" in report else processor_name())
    return machine, rows_of_bench(report, origin, precision_of(ROOT / f"bench/{report['study']}.toml", options.set))


# --- Self-test ----------------------------------------------------------------------------------------------

SAMPLE_LINE = {
    "backend": "cpu", "threads": 1, "lanes": 2, "method": "dop853", "members": 1000, "seconds": 0.5,
    "members_per_s": 2000.0, "steps_per_s": 28000.0, "steps_per_member": 14.0, "rejected_per_member": 0.25,
    "events_per_member": 3.0, "speedup": 1.0, "device_seconds": 0.0,
}  # fmt: skip


def sample_report(**changes):
    return {"study": "string", "compile": {"cold_s": 2.5, "cached_s": 0.1}, "lines": [{**SAMPLE_LINE, **changes}]}


def self_test():
    origin = {"date": "2026-11-17", "commit": "abc1234", "command": "zwang bench, with a comma", "note": ""}

    cpu = rows_of_bench(sample_report(), origin, "double")
    assert cpu[0]["members_per_s"] == "2000" and cpu[0]["kernel_seconds"] == "0.5" and cpu[0]["lanes"] == 2

    # The device's own time counts on a GPU, not the time with copies.
    cuda = rows_of_bench(sample_report(backend="cuda", device_seconds=0.01), origin, "double")
    assert cuda[0]["members_per_s"] == "100000" and cuda[0]["steps_per_s"] == "1.4e+06" and cuda[0]["lanes"] == ""

    entry = {"name": "string_plain", "method": "dp8", "members_per_second": 3000.0, "error": 5.4e-9}
    by_hand = rows_of_yardsticks([{**entry, "tolerance": 4.2e-7, "steps_per_member": 12.0}], origin)
    assert by_hand[0]["note"] == "true error 5.4e-09 at tolerance 4.2e-07" and by_hand[0]["steps_per_s"] == "36000"

    assert folder_name("NVIDIA H200") == "h200" and folder_name("Neoverse-N1") == "neoverse_n1"
    assert folder_name("Intel(R) Xeon(R) CPU @ 2.20GHz") == "intel_xeon_2_20ghz"
    assert precision_of(Path("none"), []) == "double"
    assert precision_of(Path("none"), ["integrator.rtol=1e-5", "integrator.precision=single"]) == "single"

    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder)
        # A study and the hand-written programs of the same system share a file; a second record is appended.
        for rows in (cpu, by_hand, cpu):
            append_rows(results, "machine", rows)
        path = results / "machine" / "string.csv"
        rows = read_rows(path)
        assert [row["study"] for row in rows] == ["string", "string_plain", "string"]
        assert rows[0] == rows[2] and rows[0]["command"] == "zwang bench, with a comma" and rows[1]["members"] == ""
        longer = {**cpu[0], "command": cpu[0]["command"] + " --seconds 5 --json"}
        assert previous_of(longer, rows) == rows[2] and previous_of(cuda[0], rows) is None
        path.write_text("date,commit\n")
        try:
            read_rows(path)
        except SystemExit as error:
            assert "its columns are" in str(error)
        else:
            raise AssertionError("a file with other columns was accepted")

    # Every record in the tree can be read, and every number in it is one.
    for path in sorted(RESULTS.glob("*/*.csv")):
        with path.open(newline="") as file:
            header = next(csv.reader(file))
        if header != COLUMNS:
            continue
        for place, row in enumerate(read_rows(path), 2):
            assert None not in row and None not in row.values(), f"{path}:{place}: wrong number of cells"
            assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", row["date"]), f"{path}:{place}: date"
            assert row["study"] and row["backend"] and float(row["members_per_s"]) > 0, f"{path}:{place}"
            for key in COLUMNS[6:16]:
                assert row[key] == "" or float(row[key]) >= 0, f"{path}:{place}: {key}"
    print("record.py: self-test passed")


def main():
    parser = argparse.ArgumentParser(description="Append measurements to bench/results/MACHINE/STUDY.csv.")
    parser.add_argument("--zwang", type=Path, help="the program to measure")
    parser.add_argument("--yardsticks", type=Path, help="the hand-written programs; not measured when left out")
    parser.add_argument("--machine", help="folder of the rows (default: model of the processor, or of the GPU)")
    parser.add_argument("--studies", nargs="+", metavar="NAME", help="names in bench/ (default: all of this machine)")
    parser.add_argument("--backend", choices=("auto", "cpu", "cuda"), default="auto", help="auto: a GPU if present")
    parser.add_argument("--seconds", default="1", help="minimum seconds per measurement")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="passed to zwang bench")
    parser.add_argument("--note", default="", help="what a reader of the row should know")
    parser.add_argument("--date", default=datetime.date.today().isoformat())
    parser.add_argument("--commit", default="", help="commit of the program (default: of this tree)")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--from", dest="saved", type=Path, help="saved output of `zwang bench --json`")
    parser.add_argument("--command", default="", help="with --from: the command that was run")
    parser.add_argument("--self-test", action="store_true", help="test this script, then exit")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    if not options.zwang and not options.saved:
        parser.error("one of --zwang, --from or --self-test is needed")
    written = set()
    for machine, rows in [rows_of_saved(options)] if options.saved else measure(options):
        written.update(append_rows(options.results, machine, rows))
    for path in sorted(written):
        print(f"appended to {path}")


if __name__ == "__main__":
    sys.exit(main())
