"""The Python code of docs/python.md runs, with fewer members."""
import pathlib
import re

import pytest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"


def test_the_code_of_the_page_runs(tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    pytest.importorskip("scipy")
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)
    # The last block reads files of the command line by xarray alone.
    blocks = [block for block in blocks if "import xarray" not in block]
    assert len(blocks) >= 4
    names = {}
    exec("import pandas, zwang; study = zwang.example('slung_load')", names)
    for block in blocks:
        smaller = re.sub(r"members=[0-9_]+", "members=50", block)
        exec(smaller.replace("random_base2(12)", "random_base2(5)"), names)
    assert names["result"].summary["members"]["entered"] == 32
    assert (tmp_path / "results" / "large" / "summary.json").exists()
