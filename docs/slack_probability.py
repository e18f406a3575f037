"""Probability that the cable goes slack, with its interval, and a fan chart, from a result folder.

    zwang run configs/slung_load.toml
    python3 docs/slack_probability.py results/slung_load --picture fan.png

Needs xarray, netCDF4 and matplotlib (Debian: python3-xarray python3-netcdf4 python3-matplotlib).
"""

import argparse
import math
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # write to a file; needs no display
import matplotlib.pyplot as plt
import xarray as xr


def fan_chart(statistics, name, picture):
    """Quantile bands and the mean of one observable over time."""
    time = statistics["time"]
    bands = statistics["quantiles"].sel(observable=name)
    levels = bands["quantile"].values
    figure, axes = plt.subplots(figsize=(8, 4))
    for low, high in zip(levels[: len(levels) // 2], levels[::-1]):
        axes.fill_between(time, bands.sel(quantile=low), bands.sel(quantile=high), alpha=0.25, color="#0067a8",
                          label=f"{100 * (high - low):.0f} % of the members")
    axes.plot(time, statistics["mean"].sel(observable=name), color="#0067a8", label="mean")
    axes.set(xlabel="time", ylabel=name, title=statistics.attrs["title"])
    axes.legend()
    figure.savefig(picture, dpi=120, bbox_inches="tight")


def probability(hits, members):
    """Proportion of members and Wilson's 95 % interval, which also holds for none and all."""
    z = 1.959963984540054
    share = hits / members
    middle = (share + z * z / (2 * members)) / (1 + z * z / members)
    half = z / (1 + z * z / members) * math.sqrt(share * (1 - share) / members + (z / (2 * members)) ** 2)
    return share, middle - half, middle + half


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--picture", type=Path, default=Path("fan.png"))
    options = parser.parse_args()

    statistics = xr.open_dataset(options.folder / "statistics.nc")
    fan_chart(statistics, "height", options.picture)

    members = xr.open_dataset(options.folder / "members.nc")
    entered = members["entered"] == 1
    # NaN means that the event never occurred: the cable of these members stayed taut.
    slack = members["measures"].sel(measure="first_slack").notnull() & entered
    share, low, high = probability(int(slack.sum()), int(entered.sum()))
    print(f"the cable goes slack in {100 * share:.2f} % of the members, 95 % interval {100 * low:.2f} to {100 * high:.2f} %")

    hardest = members["measures"].sel(measure="hardest_snap")
    limit = 5.0
    broken = int((hardest > limit).sum())
    share, low, high = probability(broken, int(entered.sum()))
    print(f"a snap harder than {limit} comes with probability {share:.4f}, 95 % interval {low:.4f} to {high:.4f}")


main()
