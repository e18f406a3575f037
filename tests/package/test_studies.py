"""Studies as Python objects."""
import copy
import pickle

import numpy as np
import pytest

import zwang

BALL = """\
[parameters]
g = 9.81            # gravity
h = { uniform = [1, 2] }

[[point]]
name = "ball"
mass = 1
position = ["h"]

[system]
gravity = ["-g"]

[[constraint]]
name = "floor"
require = "ball.x >= 0"
restitution = 0.5

[time]
end = 1
"""


def test_a_study_from_text_is_that_text():
    study = zwang.loads(BALL)
    assert str(study) == BALL
    assert study.name == "study" and study.drawn == ["h"] and study.parameters == ["g", "h"]


def test_a_study_from_a_file_an_example_and_a_path(tmp_path, configs):
    text = (configs / "slung_load.toml").read_text()
    assert str(zwang.example("slung_load")) == text
    assert zwang.load(configs / "slung_load.toml") == zwang.load(str(configs / "slung_load.toml"))
    assert zwang.load("slung_load") == zwang.example("slung_load")
    assert "slung_load" in zwang.examples()


def test_a_dict_has_the_keys_of_the_file():
    tables = {"parameters": {"g": 9.81, "h": {"uniform": [1, 2]}},
              "point": [{"name": "ball", "mass": 1, "position": ["h"]}],
              "system": {"gravity": ["-g"]},
              "constraint": [{"name": "floor", "require": "ball.x >= 0", "restitution": 0.5}],
              "time": {"end": 1}}
    assert zwang.study(tables) == zwang.loads(BALL)
    tables["parameters"]["g"] = np.float64(9.81)
    tables["parameters"]["h"]["uniform"] = np.array([1, 2])
    assert zwang.study(tables) == zwang.loads(BALL)


def test_with_returns_a_changed_copy_and_leaves_the_study():
    study = zwang.loads(BALL)
    changed = study.with_(**{"parameters.g": 1.5, "constraint.floor.restitution": {"uniform": [0, 1]}})
    assert str(study) == BALL
    assert changed != study and changed.drawn == ["h", "floor.restitution"]
    assert zwang.loads(str(changed)) == changed
    assert changed.with_({"parameters.g": 9.81, "constraint.floor.restitution": 0.5}) == study
    assert study.with_(**{"observe.double": "2*ball.x"}).observables[-1] == "double"


def test_studies_do_not_change_and_can_be_keys():
    study = zwang.loads(BALL)
    with pytest.raises(AttributeError):
        study.name = "other"
    assert len({study, zwang.loads(BALL), study.with_(**{"parameters.g": 1})}) == 2


@pytest.mark.parametrize("study", [
    zwang.loads(BALL), zwang.loads(BALL).with_(**{"parameters.g": 2}),
    zwang.loads(BALL).with_inputs({"h": [1.0, 1.5], "g": [9.0, 9.5]})], ids=["plain", "changed", "inputs"])
def test_studies_can_be_pickled_and_copied(study):
    for other in (pickle.loads(pickle.dumps(study)), copy.deepcopy(study)):
        assert other == study and str(other) == str(study)
    if study.inputs:
        assert np.array_equal(pickle.loads(pickle.dumps(study)).inputs["g"], [9.0, 9.5])


def test_a_saved_study_with_inputs_loads_as_the_same(tmp_path):
    study = zwang.loads(BALL).with_inputs({"h": [1.1, 1.7, 1 / 3 + 1]})
    study.save(tmp_path / "study.toml")
    assert zwang.load(tmp_path / "study.toml") == study


@pytest.mark.parametrize("name", ["slung_load", "three_balls", "knife_edge", "galton_board"])
def test_every_study_survives_its_own_text(name):
    study = zwang.example(name)
    changed = study.with_(**{"ensemble.seed": 12345})
    assert zwang.loads(str(changed)) == changed
    assert zwang.loads(study.as_run) == study


MISTAKES = {
    "unknown key": BALL.replace("mass = 1", "mass = 1\nmas = 2"),
    "syntax": BALL.replace("end = 1", "end = "),
    "formula": BALL.replace("ball.x >= 0", "ball.z >= 0"),
    "two mistakes": BALL.replace("end = 1", "end = -1").replace('"-g"', '"-gg"'),
}


@pytest.mark.parametrize("text", MISTAKES.values(), ids=MISTAKES)
def test_mistakes_have_the_text_of_the_command_line(text, tmp_path, zwang_command):
    (tmp_path / "x.toml").write_text(text)
    by_command = zwang_command("run", "x.toml", cwd=tmp_path)
    assert by_command.returncode == 1
    with pytest.raises(zwang.StudyError) as caught:
        zwang.loads(text, "x.toml")
    assert str(caught.value) == by_command.stderr.rstrip("\n")
    first = caught.value.problems[0]
    assert (first.file, first.line) == ("x.toml", caught.value.line) and first.line > 0 and first.column > 0
    assert first.expected and isinstance(caught.value, ValueError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.problems == caught.value.problems


def test_mistakes_in_changes_have_the_text_of_the_command_line(tmp_path, zwang_command):
    by_command = zwang_command("run", "slung_load", "--set", "parameters.gusts=1", cwd=tmp_path)
    with pytest.raises(zwang.StudyError) as caught:
        zwang.example("slung_load").with_(**{"parameters.gusts": 1})
    assert str(caught.value) == by_command.stderr.rstrip("\n")
    assert "did you mean 'gust'?" in caught.value.hint


@pytest.mark.parametrize("tables, word", [
    ({"parameters": {"g": None}}, "parameters.g"), ({"parameters": {1: 2}}, "key"), ({"time": {"end": 1 << 80}}, "time.end"),
    ({"time": {"end": object()}}, "time.end")])
def test_objects_that_are_no_values_are_named(tables, word):
    with pytest.raises(zwang.StudyError, match=word):
        zwang.study(tables)


def test_a_dict_within_itself_is_refused():
    tables = {}
    tables["time"] = tables
    with pytest.raises(zwang.StudyError, match="within itself"):
        zwang.study(tables)


def test_unknown_names_and_paths():
    with pytest.raises(zwang.StudyError, match="slung_load"):
        zwang.example("slung_lod")
    with pytest.raises(zwang.StudyError, match="no such file"):
        zwang.load("nowhere/study.toml")
    with pytest.raises(zwang.StudyError, match="not a study"):
        zwang.run(17)
