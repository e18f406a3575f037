"""Opens the results of a run as a user would and recomputes the statistics with NumPy.

    python3 check_results.py FOLDER

Prints one line per disagreement and exits with code 1 if there are any. Needs xarray and netCDF4.
"""

import json
import sys
import tomllib
from pathlib import Path

import numpy as np
import xarray as xr

# Statistics of up to millions of numbers, summed in different orders.
TOLERANCE = 1e-12

complaints = []
checks = 0


def expect(good, text):
    global checks
    checks += 1
    if not good:
        complaints.append(text)


def same(name, ours, theirs, scale=0.0):
    """Equal up to rounding, with the same missing values. `scale`: size of the input numbers."""
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    expect(ours.shape == theirs.shape, f"{name}: shapes {ours.shape} and {theirs.shape}")
    if ours.shape != theirs.shape:
        return
    with np.errstate(invalid="ignore"):
        size = np.maximum(np.maximum(np.abs(ours), np.abs(theirs)), scale)
        good = (np.abs(ours - theirs) <= TOLERANCE * size) | (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    if not np.all(good):
        worst = np.argwhere(~good)[0]
        where = tuple(int(i) for i in worst)
        expect(False, f"{name}{list(where)}: {ours[where]!r} in the file, {theirs[where]!r} by NumPy")
    else:
        expect(True, name)


def identical(name, a, b):
    a = np.asarray([np.nan if x is None else x for x in np.ravel(np.asarray(a, object))], float)
    b = np.ravel(np.asarray(b, float))
    # JSON has no infinity.
    b = np.where(np.isinf(b), np.nan, b)
    expect(a.shape == b.shape and np.array_equal(a, b, equal_nan=True), f"{name}: summary.json and the file differ")


def no_constant(text):
    raise ValueError(f"summary.json holds {text}, which is not JSON")


# --- Plain NumPy ----------------------------------------------------------------------------------------------------


def moments(x):
    """Statistics of the values that are not missing, under the names used in the file."""
    x = x[~np.isnan(x)]
    finite = x[np.isfinite(x)]
    n = len(finite)
    nan = np.nan
    made = dict(count=len(x), minimum=x.min() if len(x) else nan, maximum=x.max() if len(x) else nan)
    if len(finite) < len(x) or n == 0:
        return made
    mean = finite.mean()
    d = finite - mean
    m2, m3, m4 = (np.sum(d**p) for p in (2, 3, 4))
    made["mean"] = mean
    made["std"] = np.sqrt(m2 / (n - 1)) if n > 1 else nan
    # For a constant only rounding is left on either side.
    if n > 1 and np.sqrt(m2 / n) > 1e-6 * np.abs(finite).max():
        made["skewness"] = np.sqrt(n) * m3 / m2**1.5
        made["kurtosis"] = n * m4 / m2**2 - 3
    return made


def ranks(x):
    _, where, counts = np.unique(x, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[where]


def related(columns, of):
    """Pairwise, over the members that have both values."""
    k = columns.shape[1]
    made = np.full((k, k), np.nan)
    for i in range(k):
        for j in range(k):
            both = np.isfinite(columns[:, i]) & np.isfinite(columns[:, j])
            if both.sum() > 1:
                made[i, j] = of(columns[both, i], columns[both, j])
    return made


def covariance(a, b):
    return np.sum((a - a.mean()) * (b - b.mean())) / (len(a) - 1)


def rank_correlation(a, b):
    a, b = ranks(a), ranks(b)
    c = np.sqrt(covariance(a, a) * covariance(b, b))
    return covariance(a, b) / c if c > 0 else np.nan


# --- The parts ------------------------------------------------------------------------------------------------------


def check_series(name, column, get, independent, quantiles=None):
    """get(variable) returns the number in the file for this series."""
    scale = np.abs(column[np.isfinite(column)]).max(initial=0.0)
    theirs = moments(column)
    for key, value in theirs.items():
        unit_free = key in ("skewness", "kurtosis", "count")
        same(f"{name} {key}", get(key), value, 1.0 if unit_free else scale)
    if independent and "std" in theirs:
        same(f"{name} stderr", get("stderr"), theirs["std"] / np.sqrt(theirs["count"]), scale)
    expect(get("missing") == np.isnan(column).sum(), f"{name}: missing {get('missing')}, not {np.isnan(column).sum()}")
    low, mean, high = get("mean_low"), get("mean"), get("mean_high")
    expect(np.isnan(low) or low <= mean <= high, f"{name}: the mean is outside of its interval")
    if quantiles is None:
        return
    x = column[~np.isnan(column)]
    values = np.asarray(get("quantiles"))
    theirs = np.quantile(x, quantiles) if len(x) else np.full(len(quantiles), np.nan)
    if get("method") == "exact":
        same(f"{name} quantiles", values, theirs, scale)
    else:
        # The bound applies to the order statistics on either side.
        bound = get("relative_error") * 2 * scale
        expect(np.all(np.abs(values - theirs) <= bound), f"{name}: quantiles are off by more than the sketch allows")
    with np.errstate(invalid="ignore"):
        wrong = (get("quantiles_low") > values) | (get("quantiles_high") < values)
    expect(not np.any(wrong), f"{name}: a quantile is outside of its interval")


def check_layout(statistics):
    wanted = {
        "mean std stderr skewness kurtosis minimum maximum count": ("observable", "time"),
        "quantiles quantiles_low quantiles_high": ("observable", "time", "quantile"),
        "histogram": ("observable", "time", "bin"),
        "histogram_edges": ("observable", "bin_edge"),
        "measure_mean measure_std measure_stderr measure_count measure_missing": ("measure",),
        "measure_quantiles": ("measure", "quantile"),
        "measure_histogram": ("measure", "bin"),
        "measure_covariance": ("measure", "measure"),
        "covariance rank_correlation": ("variable", "other_variable"),
        "input_mean input_std": ("input",),
    }
    for names, dimensions in wanted.items():
        for name in names.split():
            found = statistics[name].dims if name in statistics else None
            expect(found == dimensions, f"statistics.nc: {name} has the dimensions {found}, not {dimensions}")
    for name in "Conventions title study study_as_run seed backend device version".split():
        expect(name in statistics.attrs, f"statistics.nc: no attribute {name}")
    for name, variable in statistics.variables.items():
        expect("long_name" in variable.attrs, f"statistics.nc: {name} has no long_name")
    expect(statistics["time"].dtype == np.float64, "statistics.nc: xarray took the times for dates")


def check_summary(summary, statistics, measures, inputs, quantiles):
    """Both files hold the same numbers, bit for bit."""
    identical("time", summary["time"], statistics["time"])
    keys = "count missing mean std stderr minimum maximum skewness kurtosis mean_low mean_high".split()
    for kind, prefix, dimension, names in (
        ("observables", "", "observable", [str(n) for n in statistics["observable"].values]),
        ("measures", "measure_", "measure", measures),
        ("inputs", "input_", "input", inputs),
    ):
        expect(list(summary[kind]) == names, f"summary.json: {kind} are {list(summary[kind])}, not {names}")
        for i, name in enumerate(names):
            for key in keys:
                identical(f"{name} {key}", summary[kind][name][key], statistics[prefix + key].isel({dimension: i}))
            if kind == "inputs":
                continue
            for key in ("quantiles", "quantiles_low", "quantiles_high"):
                of_file = statistics[prefix + key].isel({dimension: i})
                expect(
                    [float(p) for p in summary[kind][name][key]] == list(quantiles),
                    f"summary.json: {key} of {name} are of other probabilities",
                )
                for k, series in enumerate(summary[kind][name][key].values()):
                    identical(f"{name} {key}", series, of_file.isel(quantile=k))
    for key in ("covariance", "rank_correlation"):
        identical(key, summary[key]["matrix"], statistics[key])
        expect(summary[key]["names"] == measures + inputs, f"summary.json: {key} has other names")


def check_counts(summary, statistics, members):
    counted = summary["members"]
    entered = members["entered"].values == 1
    expect(members.sizes["member"] == counted["integrated"], "members.nc: not as many members as were integrated")
    expect(np.array_equal(members["member"], np.arange(members.sizes["member"])), "members.nc: members out of order")
    expect(entered.sum() == counted["entered"], "entered differs")
    words = members["status"].attrs["flag_meanings"].split()
    found = np.bincount(members["status"].values.astype(int), minlength=len(words))
    for word, count in zip(words, found):
        expect(counted["status"].get(word, 0) == count, f"status {word}: {counted['status'].get(word, 0)}, not {count}")
        if word not in ("ok", "stopped"):
            first = np.flatnonzero(members["status"].values == words.index(word))[:10]
            expect(counted["examples"].get(word, []) == list(first), f"examples of {word} differ")
    failed = sum(n for w, n in zip(words, found) if w not in ("ok", "stopped"))
    expect(counted["failed"] == failed, f"failed: {counted['failed']}, not {failed}")
    events = members["events"].sum("member")
    for kind in members["event_kind"].values:
        expect(summary["events"][str(kind)] == int(events.sel(event_kind=kind)), f"events of kind {kind} differ")
    # Starts that could not be made consistent were moved, but not onto the constraints.
    started = members["status"] != words.index("inconsistent_start")
    moved = (members["start_position_moved"] > 0) | (members["start_velocity_moved"] > 0)
    expect(int((moved & started).sum()) == counted["start"]["moved"], "starts moved differ")
    drawn = members["attempts"].values[1 if counted["nominal"] == 0 else 0 :]
    expect(int((drawn - 1).sum()) == counted["start"]["redrawn"], "draws made again differ")
    expect(summary["performance"]["steps"] == int(members["steps"].sum()), "steps differ")
    expect(statistics.attrs["members_entered"] == entered.sum(), "statistics.nc: members_entered differs")


def check_measure_histograms(statistics, columns):
    for i, name in enumerate(statistics["measure"].values):
        counts = statistics["measure_histogram"].values[i]
        edges = statistics["measure_histogram_edges"].values[i]
        edges = edges[~np.isnan(edges)]
        if len(edges) == 0:
            continue
        counts = counts[: len(edges) - 1]
        x = columns[:, i][~np.isnan(columns[:, i])]
        inside = (x >= edges[0]) & (x <= edges[-1])
        theirs = np.histogram(x[inside], edges)[0]
        # Rounding may put a value on an edge into either bin.
        near = sum(int(np.sum(np.abs(x - e) <= 1e-12 * np.abs(edges).max())) for e in edges)
        expect(np.abs(counts - theirs).sum() <= 2 * near, f"histogram of {name}: {counts}, not {theirs}")
        outside = statistics["measure_histogram_below"].values[i] + statistics["measure_histogram_above"].values[i]
        expect(counts.sum() + outside == len(x), f"histogram of {name} does not add up")


def check_members(summary, statistics, members, independent, quantiles):
    entered = members["entered"].values == 1
    measured = members["measures"].values[entered]
    drawn = members["inputs"].values[entered]
    check_counts(summary, statistics, members)
    for i, name in enumerate(members["measure"].values):

        def of_measure(key, i=i):
            if key in ("method", "relative_error"):
                return statistics["measure_quantiles"].attrs[key]
            return statistics["measure_" + key].values[i]

        check_series(f"measure {name}", measured[:, i], of_measure, independent, quantiles)
    for i, name in enumerate(members["input"].values):
        check_series(f"input {name}", drawn[:, i], lambda key, i=i: statistics["input_" + key].values[i], independent)
    check_measure_histograms(statistics, measured)

    columns = np.hstack([measured, drawn])
    # For a constant, NumPy's mean is off by rounding and leaves a spread of that size.
    finite = [x[np.isfinite(x)] for x in columns.T]
    spread = np.array([max(np.std(x), 1e-9 * np.abs(x).max()) if len(x) else 0.0 for x in finite])
    scale = np.outer(spread, spread)
    same("covariance", statistics["covariance"], related(columns, covariance), scale)
    k = measured.shape[1]
    same("measure_covariance", statistics["measure_covariance"], statistics["covariance"].values[:k, :k])
    if statistics["rank_correlation"].attrs["member_stride"] == 1:
        same("rank_correlation", statistics["rank_correlation"], related(columns, rank_correlation), 1.0)


def check_trajectories(statistics, members, trajectories, independent, quantiles):
    chosen = trajectories["trajectory"].values
    kinds = trajectories["event_kind"].attrs["flag_meanings"].split()
    expect(int(trajectories["event_count"].sum()) == trajectories.sizes["event"], "trajectories.nc: event counts")
    first = 0
    for i, member in enumerate(chosen):
        count = int(trajectories["event_count"][i])
        events = trajectories.isel(event=slice(first, first + count))
        first += count
        expect(np.all(events["event_trajectory"] == i), f"member {member}: events out of place")
        expect(np.all(np.diff(events["event_time"]) >= 0), f"member {member}: events out of order")
        if members is None:
            continue
        row = members.sel(member=member)
        expect(float(row["end_time"]) == float(trajectories["end_time"][i]), f"member {member}: two end times")
        expect(int(row["status"]) == int(trajectories["status"][i]), f"member {member}: two ways to end")
        found = np.bincount(events["event_kind"].values.astype(int), minlength=len(kinds))
        expect(np.array_equal(found, row["events"]), f"member {member}: events by kind differ")
    times = trajectories["time"].values
    for i in range(len(chosen)):
        reached = times <= float(trajectories["end_time"][i])
        shown = np.isfinite(trajectories["position"].values[i]).all(axis=1)
        expect(np.array_equal(shown, shown & reached), f"member {chosen[i]}: states after its end")

    # With all members available, the statistics over time can be recomputed too.
    if members is None or len(chosen) != members.sizes["member"]:
        return
    entered = members["entered"].values[chosen] == 1
    observed = trajectories["observables"].values[entered]
    for i, name in enumerate(statistics["observable"].values):
        for t in range(len(times)):

            def get(key, i=i, t=t):
                if key in ("method", "relative_error"):
                    return statistics["quantiles"].attrs[key]
                return statistics[key].values[i, t]

            check_series(f"observable {name} at {times[t]}", observed[:, t, i], get, independent, quantiles)


def main(folder):
    folder = Path(folder)
    summary = json.loads((folder / "summary.json").read_text(), parse_constant=no_constant)
    study = tomllib.loads((folder / "study.toml").read_text())
    statistics = xr.open_dataset(folder / "statistics.nc").load()
    members = xr.open_dataset(folder / "members.nc").load() if study["output"]["members"] else None
    # A run that `until` ended early has only the first of the requested members.
    chosen = [k for k in study["output"]["trajectories"] if k < summary["members"]["integrated"]]
    trajectories = xr.open_dataset(folder / "trajectories.nc").load() if chosen else None

    quantiles = statistics["quantile"].values
    measures = [str(n) for n in statistics["measure"].values]
    inputs = [str(n) for n in statistics["input"].values]
    independent = study["ensemble"]["sampler"] != "sobol"
    check_layout(statistics)
    check_summary(summary, statistics, measures, inputs, quantiles)
    expect(study["ensemble"]["seed"] == summary["seed"] == statistics.attrs["seed"], "the seeds differ")
    if members is not None:
        check_members(summary, statistics, members, independent, quantiles)
    if trajectories is not None:
        expect(list(trajectories["trajectory"].values) == chosen, "trajectories.nc holds other members")
        check_trajectories(statistics, members, trajectories, independent, quantiles)

    for text in complaints[:20]:
        print(text)
    if len(complaints) > 20:
        print(f"... and {len(complaints) - 20} more")
    print(f"{checks} checks, {len(complaints)} failed")
    return 1 if complaints else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
