"""What is wrong gets an exception with a clear text and leaves the interpreter usable."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import textwrap
import time

import pytest

import zwang

FAILING = """\
[[coordinate]]
name = "x"
position = {{ uniform = [0, {most}] }}
velocity = 1
[system]
kinetic = "0.5*x'^2"
force = {{ x = "1/sqrt(1 - x)" }}
[measure]
last = "final(x)"
[time]
end = 3
[ensemble]
members = {members}
[output]
members = true
"""


def in_a_process(text, timeout=120, **settings):
    """Runs Python code; it fails the test if it does not print 'usable' at its end."""
    code = textwrap.dedent(text)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=timeout, **settings)


@pytest.mark.parametrize("members", [40, 3000])
def test_a_study_that_fails_for_all_members(members):
    # x reaches 1, where the force has a pole.
    study = zwang.loads(FAILING.format(most=0.5, members=members))
    with pytest.raises(zwang.MembersFailed) as caught:
        zwang.run(study, progress=False)
    assert "the force on x" in str(caught.value) and "replay" in caught.value.hint
    everything = zwang.run(study, members=10, progress=False, max_failed=1)
    assert len(everything.failures) == 10 and everything.failures["cause"].iloc[0]


def test_a_warning_if_many_members_fail():
    study = zwang.loads(FAILING.format(most=1.0, members=40)).with_(**{"time.end": 0.2})
    with pytest.warns(zwang.MembersWarning, match="of 40 members failed"):
        result = zwang.run(study, progress=False)
    failed = result.summary["members"]["failed"]
    assert 0 < failed < 40 and len(result.failures) == failed
    assert list(result.failures.columns) == ["status", "cause"]


def test_the_machine_refuses_a_backend():
    done = in_a_process("""
        import zwang
        try:
            zwang.run("slung_load", members=10, backend="cuda", progress=False)
        except zwang.MachineError as error:
            print("refused:", error.hint)
        print(zwang.run("slung_load", members=10, progress=False).summary["members"]["entered"], "usable")
        """, env={**os.environ, "ZWANG_CUDA_DRIVER": "/nowhere/libcuda.so"})
    assert "refused:" in done.stdout and "10 usable" in done.stdout, done.stderr


def test_a_compiler_that_is_named_but_missing_is_an_error():
    done = in_a_process("""
        import os, zwang
        try:
            zwang.run("slung_load", members=10, backend="cpu", progress=False)
        except zwang.MachineError as error:
            print(error.message)
        print(zwang.run("slung_load", members=4, backend="reference", progress=False).summary["backend"]["name"], "usable")
        """, env={**os.environ, "ZWANG_CXX": "/nowhere/c++"})
    assert "there is no such compiler" in done.stdout and "reference usable" in done.stdout, done.stderr


def test_without_a_compiler_the_reference_is_used_and_a_warning_says_so(tmp_path):
    # In a mount namespace of its own the compilers are hidden.
    hide = "; ".join(f"test ! -e {path} || mount --bind /dev/null {path}"
                     for path in {os.path.realpath(f"/usr/bin/{name}") for name in ("c++", "g++", "clang++")})
    code = """if True:
        import warnings, zwang
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            result = zwang.run("bouncing_ball", members=4, progress=False)
        print(result.summary["backend"]["name"], [str(one.message) for one in seen])
        """
    words = ["unshare", "--mount", "sh", "-c", f"{hide}; exec {sys.executable} -c '{code}'"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=120,
                              env={**os.environ, "PATH": "/usr/bin:/bin", "ZWANG_CUDA_DRIVER": "/nowhere/libcuda.so"})
    except FileNotFoundError:
        pytest.skip("unshare is not installed")
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip("no mount namespaces here")
    assert "reference" in done.stdout and "no C++ compiler found" in done.stdout, done.stdout + done.stderr


def test_a_file_that_grows_too_large_is_reported(tmp_path):
    # As a full disk: the write fails.
    done = in_a_process(f"""
        import os, resource, zwang
        study = zwang.example("slung_load").with_(**{{"output.members": True}})
        zwang.run(study, members=10, progress=False).statistics
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
        for folder in (None, {str(tmp_path / 'run')!r}):
            try:
                zwang.run(study, members=3000, progress=False, folder=folder)
            except zwang.MachineError as error:
                print("refused:", error.found)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, -1))
        print(zwang.run(study, members=10, progress=False).summary["members"]["entered"], "usable")
        """)
    assert done.stdout.count("refused: File too large") == 2 and "10 usable" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 0  # HDF5 must not clean up after a failed write


def test_a_full_disk_is_reported(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", disk], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("tmpfs cannot be mounted here")
    try:
        with pytest.raises(zwang.MachineError, match="No space left"):
            zwang.run("slung_load", members=3000, progress=False, folder=disk / "run")
        with pytest.raises(zwang.MachineError, match="No space left"):
            zwang.run("slung_load", members=100, progress=False).save(disk / "other")
        assert not (disk / "other").exists()
    finally:
        subprocess.run(["umount", disk], check=False)
    assert zwang.run("slung_load", members=10, progress=False).summary["members"]["entered"] == 10


LONG = """
    import sys, time, zwang
    study = zwang.example("slung_load").with_(**{{"output.members": True}})
    zwang.run(study, members=10, progress=False)
    print("running", flush=True)
    try:
        zwang.run(study, members={members}, progress=False, folder={folder!r}, resume={resume},
                  backend={backend!r}, threads=1, checkpoint=0.1)
    except KeyboardInterrupt as reason:
        print(time.monotonic(), "interrupted", reason, flush=True)
    print(zwang.run(study, members=10, progress=False).summary["members"]["entered"], "usable")
"""


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_ctrl_c_raises_within_a_second_and_the_run_is_resumed(backend, tmp_path):
    members = 40_000 if backend == "cpu" else 48
    folder = str(tmp_path / "run")
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(LONG.format(
        members=members, folder=folder, resume=True, backend=backend))], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "running\n"
    # As soon as there is something to go on from: the run may be a matter of a second.
    begun = time.monotonic()
    while not (tmp_path / "run" / ".checkpoint").exists() and time.monotonic() - begun < 60:
        time.sleep(0.01)
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    when, *words = process.stdout.readline().split(maxsplit=2)
    assert words[0] == "interrupted" and "resume=True" in words[1]
    # A second as promised, and as much again for a machine that is busy with other tests.
    assert float(when) - sent < 2
    assert "10 usable" in process.stdout.read()
    assert process.wait(30) == 0 and (tmp_path / "run" / ".checkpoint").exists()

    study = zwang.example("slung_load").with_(**{"output.members": True})
    resumed = zwang.run(study, members=members, progress=False, folder=folder, resume=True, backend=backend)
    undisturbed = zwang.run(study, members=members, progress=False, backend=backend)
    assert resumed.statistics.identical(undisturbed.statistics) and resumed.members.identical(undisturbed.members)


def test_ctrl_c_without_a_folder_leaves_nothing_behind():
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(LONG.format(
        members=10**7, folder=None, resume=False, backend="cpu"))], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "running\n"
    time.sleep(0.8)
    process.send_signal(signal.SIGINT)
    assert "interrupted" in process.stdout.readline()
    assert process.wait(60) == 0
    for folder in ("/dev/shm", tempfile.gettempdir()):
        assert not list(pathlib.Path(folder).glob(f"zwang-{process.pid}-*"))


def test_the_interpreter_ends_while_a_daemon_thread_runs_a_study():
    done = in_a_process("""
        import threading, time, zwang
        zwang.run("slung_load", members=10, progress=False)
        work = lambda: zwang.run("slung_load", members=10**7, progress=False)
        threading.Thread(target=work, daemon=True).start()
        time.sleep(0.5)
        print("usable")
        """, timeout=60)
    assert done.returncode == 0 and done.stdout == "usable\n", done.stderr


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def runs_without_growth(runs):
    study = zwang.example("bouncing_ball").with_(**{"ensemble.members": 4})
    inputs = study.with_inputs({"ball.z": [1.0, 2.0]}) if "ball.z" in study.coordinates else study
    for _ in range(runs // 10):
        zwang.run(study, progress=False).statistics
    before = resident()
    for k in range(runs):
        result = zwang.run(inputs if k % 2 else study, progress=False)
        if k % 10 == 0:
            result.statistics
            zwang.replay(study)
        try:
            zwang.loads("[time]")
        except zwang.StudyError:
            pass
    return resident() - before


def test_small_runs_keep_the_memory_flat():
    # 100 bytes a run would be below the noise here; the long test has 10 000 runs.
    assert runs_without_growth(60) < 8 << 20


@pytest.mark.long
def test_ten_thousand_small_runs_keep_the_memory_flat():
    assert runs_without_growth(10_000) < 16 << 20


def test_the_command_line_is_there(tmp_path):
    def run(*words):
        return subprocess.run([sys.executable, "-m", "zwang", *words], capture_output=True, text=True, cwd=tmp_path)

    assert "slung_load" in run("list").stdout
    done = run("run", "bouncing_ball", "--members", "20", "--quiet")
    assert done.returncode == 0, done.stderr
    assert zwang.open(tmp_path / "results" / "bouncing_ball").summary["members"]["entered"] == 20
    wrong = run("run", "slung_lod")
    assert wrong.returncode == 1 and "did you mean 'slung_load'?" in wrong.stderr
