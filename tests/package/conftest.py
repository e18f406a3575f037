"""Tests of the Python package. ZWANG_PROGRAM is the program `zwang` of the same sources."""
import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def pytest_addoption(parser):
    parser.addoption("--all", action="store_true", help="the long tests too")


def pytest_configure(config):
    config.addinivalue_line("markers", "long: minutes; run with --all")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--all"):
        return
    skip = pytest.mark.skip(reason="long; run with --all")
    for item in items:
        if "long" in item.keywords:
            item.add_marker(skip)


@pytest.fixture(scope="session")
def program():
    """The command line of the same build."""
    path = os.environ.get("ZWANG_PROGRAM", "")
    if not path:
        pytest.skip("ZWANG_PROGRAM does not name the program zwang")
    return path


@pytest.fixture
def zwang_command(program):
    def run(*words, cwd=None, env=None):
        return subprocess.run([program, *map(str, words)], cwd=cwd, env=env, capture_output=True, text=True)

    return run


@pytest.fixture
def configs():
    return ROOT / "configs"
