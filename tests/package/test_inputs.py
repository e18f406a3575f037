"""Inputs from arrays: row k is member k, with the bits of a CSV file of the same numbers."""
import numpy as np
import pandas
import pytest

import zwang

TEXT = """\
[parameters]
g = 9.81
L = {L}
a = {a}
b = {{ uniform = [0, 1] }}

[[point]]
name = "bob"
mass = "1 + b"
position = [{x}, "-L"]
velocity = [0, {vy}]

[system]
gravity = [0, "-g"]

[[constraint]]
name = "string"
require = "bob.x^2 + bob.y^2 <= (L + 5)^2"
restitution = {e}

[measure]
low = "minimum(bob.y)"
last = "final(bob.x)"

[time]
end = 2
samples = 11

[ensemble]
members = 5
seed = 3

[output]
members = true
"""
PLAIN = dict(L="2.0", a="0.1", x="0", vy="0", e="0")


def random_columns(rows, seed=1):
    random = np.random.default_rng(seed)
    return {"L": random.uniform(1, 2, rows), "a": random.normal(size=rows), "bob.x": random.uniform(-1, 1, rows),
            "bob.y'": random.normal(size=rows), "string.restitution": random.uniform(0, 1, rows)}


def test_columns_have_the_bits_of_a_csv_file(tmp_path):
    columns = random_columns(57)
    pandas.DataFrame(columns).to_csv(tmp_path / "design.csv", index=False)  # repr: reads back as the same bits
    place = {key: '{ file = "design.csv", column = "%s" }' % name for key, name in
             dict(L="L", a="a", x="bob.x", vy="bob.y'", e="string.restitution").items()}
    (tmp_path / "study.toml").write_text(TEXT.format(**place))
    by_file = zwang.run(tmp_path / "study.toml", members=57, progress=False)
    by_array = zwang.run(zwang.loads(TEXT.format(**PLAIN)), inputs=columns, progress=False)
    for name in ("members", "statistics"):
        one, other = getattr(by_file, name), getattr(by_array, name)
        one.attrs, other.attrs = {}, {}  # the text of the study differs
        assert one.identical(other)
    assert by_file._bytes("inputs.csv") == by_array._bytes("inputs.csv")
    inputs = by_array.members["inputs"]
    for name, values in columns.items():
        assert np.array_equal(inputs.sel(input=name), values)


def test_a_data_frame_and_the_rest_is_drawn_as_before():
    study = zwang.loads(TEXT.format(**PLAIN))
    frame = pandas.DataFrame(random_columns(20))[["L"]]
    drawn = zwang.run(study, members=20, backend="reference", progress=False).members["inputs"].sel(input="b")
    beside = zwang.run(study, inputs=frame, backend="reference", progress=False).members["inputs"].sel(input="b")
    assert np.array_equal(drawn, beside)


def test_fewer_members_than_rows_take_the_first_rows():
    study = zwang.loads(TEXT.format(**PLAIN))
    columns = random_columns(20)
    result = zwang.run(study, inputs=columns, members=8, progress=False)
    assert np.array_equal(result.members["inputs"].sel(input="L"), columns["L"][:8])
    with pytest.raises(zwang.StudyError, match="too few rows"):
        zwang.run(study, inputs=columns, members=21, progress=False)


def test_all_names_of_a_joint_or_none():
    study = zwang.loads(TEXT.format(**PLAIN) + """
[[joint]]
names = ["u", "v"]
mean = [0, 0]
covariance = [[1, 0.5], [0.5, 1]]
""")
    u, v = np.linspace(0, 1, 6), np.linspace(2, 3, 6)
    result = zwang.run(study, inputs={"u": u, "v": v}, backend="reference", progress=False)
    assert np.array_equal(result.members["inputs"].sel(input="v"), v)
    with pytest.raises(zwang.StudyError, match="joint"):
        zwang.run(study, inputs={"u": u}, progress=False)


def test_replay_shows_the_member_of_a_row():
    columns = random_columns(4)
    motion = zwang.replay(zwang.loads(TEXT.format(**PLAIN)), member=2, inputs=columns)
    assert motion.inputs["L"] == columns["L"][2]


@pytest.mark.parametrize("inputs, word", [
    ({"L": [1.0, np.nan, 2.0]}, "row 1 of column 'L'"),
    ({"L": [1.0, np.inf]}, "not finite"),
    ({"L": [1.0, 2.0], "a": [1.0]}, "another length"),
    ({"L": [[1.0, 2.0]]}, "wrong shape"),
    ({"L": 1.0}, "wrong shape"),
    ({"L": []}, "empty"),
    ({"bob.xx": [1.0]}, "did you mean 'bob.x'"),
    ({"L": ["long"]}, "does not hold numbers"),
    ({"L": [1j]}, "does not hold numbers"),
    ({1: [1.0]}, "not a name"),
    ({}, "no column"),
    (np.zeros((3, 2)), "not a table with names"),
    ({"bob.z": [1.0]}, "no parameter and no draw"),
])
def test_wrong_inputs_are_named_and_leave_the_interpreter_usable(inputs, word):
    study = zwang.loads(TEXT.format(**PLAIN))
    with pytest.raises(zwang.StudyError, match=word):
        zwang.run(study, inputs=inputs, progress=False)
    assert zwang.run(study, inputs={"L": [1, 2]}, progress=False).summary["members"]["entered"] == 2


def test_whole_numbers_and_other_layouts_are_accepted():
    study = zwang.loads(TEXT.format(**PLAIN))
    table = np.arange(12, dtype=np.int32).reshape(6, 2) + 1
    result = zwang.run(study, inputs={"L": table[:, 0], "a": np.float32([1, 2, 3, 4, 5, 6])}, progress=False)
    assert np.array_equal(result.members["inputs"].sel(input="L"), table[:, 0])


def test_a_design_of_scipy_estimates_a_mean():
    qmc = pytest.importorskip("scipy.stats.qmc")
    # Free fall: the place at the end is b-independent, x = L/2 + 2 a.
    study = zwang.study({"parameters": {"L": 0, "a": 0}, "point": [{"name": "p", "mass": 1, "position": ["L"],
                         "velocity": ["a"]}], "measure": {"end": "final(p.x)"}, "time": {"end": 2}})
    design = qmc.scale(qmc.Sobol(2, seed=1).random_base2(10), [0, -1], [2, 3])
    result = zwang.run(study, inputs=pandas.DataFrame(design, columns=["L", "a"]), progress=False)
    # E[L + 2 a] = 1 + 2; the points are balanced far better than a random sample (1.2/32 = 0.04).
    assert abs(result.statistics["measure_mean"].sel(measure="end").item() - 3) < 5e-3
