"""Designs of other packages through inputs=, for a study with a closed-form answer."""
import numpy as np
import pandas
import pytest

import zwang

# x(1) = c + a b with a, b, c uniform on (0, 1): Var = 1/12 + 7/144, V_a = V_b = 1/48, V_c = 1/12, V_ab = 1/144.
STUDY = {"parameters": {"a": 0, "b": 0, "c": 0},
         "point": [{"name": "p", "mass": 1, "position": ["c"], "velocity": ["a*b"]}],
         "measure": {"x": "final(p.x)"}, "time": {"end": 1}, "output": {"members": True}}
VARIANCE = 1 / 12 + 7 / 144
FIRST = np.array([1 / 48, 1 / 48, 1 / 12]) / VARIANCE
TOTAL = np.array([1 / 48 + 1 / 144, 1 / 48 + 1 / 144, 1 / 12]) / VARIANCE


def measured(design):
    result = zwang.run(STUDY, inputs=pandas.DataFrame(design, columns=["a", "b", "c"]), progress=False)
    return result.members["measures"].sel(measure="x").values


def test_the_members_are_the_rows():
    design = np.random.default_rng(3).uniform(size=(500, 3))
    assert np.allclose(measured(design), design[:, 2] + design[:, 0] * design[:, 1], rtol=1e-12, atol=1e-12)


def test_salib_finds_the_sobol_indices_within_its_intervals():
    pytest.importorskip("SALib")
    from SALib.analyze import sobol as analysis
    from SALib.sample import sobol as sampling

    problem = {"num_vars": 3, "names": ["a", "b", "c"], "bounds": [[0, 1]] * 3}
    design = sampling.sample(problem, 1024, calc_second_order=False, seed=2)
    found = analysis.analyze(problem, measured(design), calc_second_order=False, seed=2)
    # 95 % intervals of SALib's bootstrap; the design and the resamples are fixed by the seed.
    assert np.all(np.abs(found["S1"] - FIRST) <= found["S1_conf"])
    assert np.all(np.abs(found["ST"] - TOTAL) <= found["ST_conf"])


def test_scipy_finds_them_too():
    stats = pytest.importorskip("scipy.stats")
    if not hasattr(stats, "sobol_indices"):
        pytest.skip("this scipy has no sobol_indices")
    found = stats.sobol_indices(func=lambda x: measured(x.T)[None, :], n=1024, random_state=1,
                                dists=[stats.uniform(0, 1)] * 3)
    interval = found.bootstrap(confidence_level=0.99).first_order.confidence_interval
    assert np.all((interval.low <= FIRST) & (FIRST <= interval.high))
