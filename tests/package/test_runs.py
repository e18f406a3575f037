"""Runs: the numbers, and the bytes, of the command line."""
import json
import pickle
import threading

import numpy as np
import pytest

import zwang

CHANGES = {"output.members": True, "output.trajectories": [0]}
# A string on a moving anchor with random inputs; a contact with accumulation; a record and labels.
STUDIES = ["slung_load", "bouncing_ball", "impact_oscillator"]
# The reference runs all of them; the CPU compiles two, and the third in the long tier.
RUNS = [(name, "reference") for name in STUDIES] + [(name, "cpu") for name in STUDIES[:2]]
RUNS.append(pytest.param(STUDIES[2], "cpu", marks=pytest.mark.long))


def without_performance(text):
    summary = json.loads(text)
    del summary["performance"]
    return summary


def assert_same_files(one, other):
    names = sorted(path.name for path in one.iterdir() if not path.name.startswith("."))
    assert names == sorted(path.name for path in other.iterdir() if not path.name.startswith("."))
    for name in names:
        if name == "summary.json":
            assert without_performance((one / name).read_bytes()) == without_performance((other / name).read_bytes())
        else:
            assert (one / name).read_bytes() == (other / name).read_bytes(), name


@pytest.mark.parametrize("name, backend", RUNS)
def test_a_run_has_the_bytes_of_the_command_line(name, backend, tmp_path, configs, zwang_command):
    # The study is read from the same path by both: its text is an attribute of the files.
    study = zwang.load(configs / f"{name}.toml").with_(CHANGES)
    members = 40 if backend == "cpu" else 6
    if "ensemble.members_per_point" in str(study) or "sweep" in study.as_run:
        members = None
    words = ["--members", members] if members else []
    by_command = zwang_command("run", configs / f"{name}.toml", *words, "--seed", 7, "--backend", backend, "--out",
                               tmp_path / "command", "--quiet", "--set", "output.members=true", "--set",
                               "output.trajectories=[0]", "--threads", 1)
    assert by_command.returncode == 0, by_command.stderr
    result = zwang.run(study, members=members, seed=7, backend=backend, progress=False, batch=7)
    result.save(tmp_path / "saved")
    assert_same_files(tmp_path / "command", tmp_path / "saved")
    zwang.run(study, members=members, seed=7, backend=backend, progress=False, folder=tmp_path / "folder", threads=2)
    assert_same_files(tmp_path / "command", tmp_path / "folder")


@pytest.fixture(scope="module")
def slung_load():
    study = zwang.example("slung_load").with_(CHANGES)
    return zwang.run(study, members=300, progress=False)


@pytest.mark.parametrize("name", ["statistics", "members", "trajectories"])
def test_datasets_are_those_of_the_files(name, slung_load, tmp_path):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    slung_load.save(tmp_path / "run")
    with xarray.open_dataset(tmp_path / "run" / f"{name}.nc") as expected:
        for found in (getattr(slung_load, name), getattr(zwang.open(tmp_path / "run"), name)):
            xarray.testing.assert_identical(found, expected.load())


def test_results_survive_saving_and_pickling(slung_load, tmp_path):
    slung_load.save(tmp_path / "run")
    opened = zwang.open(tmp_path / "run")
    for other in (opened, pickle.loads(pickle.dumps(slung_load))):
        assert other.summary == slung_load.summary and other.files == slung_load.files
        assert other.statistics.identical(slung_load.statistics)
    assert opened.study.with_(**{"title": "x"}) == slung_load.study.with_(**{"title": "x"})
    with pytest.raises(zwang.StudyError, match="overwrite"):
        slung_load.save(tmp_path / "run")
    slung_load.save(tmp_path / "run", overwrite=True)


def test_the_report_is_shown_and_written(slung_load, tmp_path):
    assert "<iframe" in slung_load._repr_html_() and "slung_load" in repr(slung_load)
    page = slung_load.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == page.html and page.html.startswith("<!")


def test_what_the_study_did_not_ask_for_is_no_attribute():
    study = zwang.example("slung_load").with_({"output.members": False, "output.trajectories": []})
    result = zwang.run(study, members=10, progress=False)
    assert not hasattr(result, "trajectories")
    with pytest.raises(AttributeError, match="output.members"):
        result.members


def test_arguments_change_the_study():
    study = zwang.example("slung_load")
    result = zwang.run(study, members=1e2, seed=5, progress=False)
    assert result.summary["members"]["requested"] == 100 and result.summary["seed"] == 5
    early = zwang.run(study, members=20000, until={"measure": "peak_tension", "relative_stderr": 0.02}, progress=False)
    assert early.summary["members"]["integrated"] < 20000


def test_progress_calls_a_function():
    seen = []
    zwang.run("slung_load", members=3000, batch=200, progress=lambda done, of: seen.append((done, of)))
    assert seen[-1] == (3000, 3000) and all(of in (0, 3000) for _, of in seen)


def test_two_runs_at_once_have_the_numbers_of_one_after_the_other(tmp_path):
    study = zwang.example("slung_load").with_(CHANGES)
    alone = [zwang.run(study, members=400, seed=seed, progress=False) for seed in (1, 2, 3, 4)]
    together = [None] * 4

    def work(k):
        together[k] = zwang.run(study, members=400, seed=k + 1, progress=False, threads=1)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one, other in zip(alone, together):
        assert one.statistics.identical(other.statistics) and one.members.identical(other.members)


def test_a_folder_is_resumed_and_refused(tmp_path):
    folder = tmp_path / "run"
    first = zwang.run("bouncing_ball", members=50, progress=False, folder=folder)
    again = zwang.run("bouncing_ball", members=50, progress=False, folder=folder, resume=True)
    assert first.summary == again.summary
    with pytest.raises(zwang.StudyError):
        zwang.run("bouncing_ball", members=51, progress=False, folder=folder, resume=True)
    with pytest.raises(zwang.StudyError, match="overwrite"):
        zwang.run("bouncing_ball", members=50, progress=False, folder=folder)
    zwang.run("bouncing_ball", members=51, progress=False, folder=folder, overwrite=True)
    assert zwang.open(folder).summary["members"]["requested"] == 51


def test_statistics_are_those_of_the_members(slung_load):
    measures = slung_load.members["measures"].sel(measure="peak_tension")
    mean = slung_load.statistics["measure_mean"].sel(measure="peak_tension")
    assert np.isclose(measures.mean(), mean, rtol=1e-12)


def test_progress_is_a_line_where_there_is_no_tqdm(monkeypatch, capsys):
    import sys

    from zwang import _jobs

    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(_jobs, "_seconds_before_bar", 0.0)
    monkeypatch.setattr(_jobs, "_seconds_between_lines", 0.0)
    zwang.run("slung_load", members=6000, threads=1, progress=True)
    assert "of 6000 members" in capsys.readouterr().err
