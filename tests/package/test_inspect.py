"""replay, explain, modes, check and bench: the numbers of the command line."""
import json

import numpy as np
import pytest

import zwang


def printed(zwang_command, *words):
    done = zwang_command(*words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("backend", ["reference", "cpu"])
def test_replay(backend, zwang_command):
    motion = zwang.replay("slung_load", member=4, backend=backend)
    assert motion.json == printed(zwang_command, "replay", "slung_load", "--member", 4, "--backend", backend)
    assert motion.states.shape == (len(motion.t), 6) and motion.states.index.name == "t"
    assert list(motion.states.columns[:1]) == ["load.x"] and "load.x'" in motion.states
    assert motion.audit["max_position_violation"] < 1e-9 and motion.status == "ok"
    assert motion.text == zwang_command("replay", "slung_load", "--member", 4, "--backend", backend).stdout
    assert set(motion.measures) >= {"snaps", "first_slack"}


def test_replay_lists_events_and_steps():
    ball = zwang.replay("bouncing_ball")
    times = ball.events.loc[ball.events["kind"] == "shock", "t"]
    assert len(times) > 3 and times.is_monotonic_increasing
    assert len(zwang.replay("slung_load", steps=True).t) != len(zwang.replay("slung_load").t)
    with pytest.raises(zwang.StudyError, match="reference"):
        zwang.replay("slung_load", steps=True, backend="cpu")


def test_explain(zwang_command):
    found = zwang.explain("slung_load", at=0.5, member=2)
    assert found.json == printed(zwang_command, "explain", "slung_load", "--at", 0.5, "--member", 2)
    assert found.mass.shape == (3, 3) and found.acceleration.dtype == np.float64
    assert found.multipliers["cable"] >= 0 and "\\" in found.latex


def test_modes(zwang_command):
    found = zwang.modes("small_oscillations")
    assert found.json == printed(zwang_command, "modes", "small_oscillations")
    assert found.roots.dtype == complex and len(found.roots) == len(found.frequencies)
    # The roots are exponents: their squares are the eigenvalues.
    assert np.allclose(np.sort_complex(found.roots**2), np.sort_complex(found.lambda_squared))
    near = zwang.modes("small_oscillations", near={"p.x": 0.1})
    assert np.allclose(near.equilibrium, 0, atol=1e-9)
    with pytest.raises(zwang.StudyError, match="no coordinate"):
        zwang.modes("small_oscillations", near={"q": 1})
    with pytest.raises(zwang.StudyError, match="not a number"):
        zwang.modes("small_oscillations", near={"p.x": float("nan")})


def test_check_is_true_if_the_backend_agrees():
    found = zwang.check("bouncing_ball", sample=2, members=8, backend="cpu")
    assert found and found.verdict == "pass" and found.members.dtype == np.int64
    assert "agrees" in found.worst and "agree" in repr(found)


@pytest.mark.parametrize("backend", ["reference", pytest.param("cpu", marks=pytest.mark.long)])
def test_bench(backend):
    found = zwang.bench("bouncing_ball", backend=backend, seconds=0.02, threads=1, members=8)
    assert found.members_per_second > 0 and "threads" in found.lines and "members/s" in repr(found)


def test_wrong_arguments_are_named():
    for call in (lambda: zwang.replay("slung_load", member=-1), lambda: zwang.explain("slung_load", at=-1),
                 lambda: zwang.check("slung_load", sample=0), lambda: zwang.bench("slung_load", seconds=0),
                 lambda: zwang.run("slung_load", backend="gpu"), lambda: zwang.run("slung_load", members=0.5),
                 lambda: zwang.run("slung_load", threads=-1), lambda: zwang.run("slung_load", resume=True),
                 lambda: zwang.run("slung_load", max_failed=2), lambda: zwang.run("slung_load", seed="x")):
        with pytest.raises(zwang.StudyError, match="expected"):
            call()
