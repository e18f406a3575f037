"""NVRTC is found where NVIDIA's wheel puts it."""
import os
import subprocess
import sys

import pytest


def found_in(site):
    code = "from zwang import _cuda; print(_cuda.nvrtc_libraries())"
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path})
    assert done.returncode == 0, done.stderr
    return eval(done.stdout)


@pytest.mark.parametrize("folder", ["cuda_nvrtc", "cu13"])
def test_the_library_is_found_and_its_companions_are_not(folder, tmp_path):
    place = tmp_path / "nvidia" / folder / "lib"
    place.mkdir(parents=True)
    for name in ("libnvrtc.so.12", "libnvrtc-builtins.so.12.8", "libnvrtc.alt.so.12", "libnvrtc.so.13"):
        (place / name).write_bytes(b"")
    found = [path for path in found_in(tmp_path) if path.startswith(str(tmp_path))]
    assert found == [str(place / "libnvrtc.so.13"), str(place / "libnvrtc.so.12")]


def test_without_the_wheel_there_is_nothing_to_find(tmp_path):
    assert not [path for path in found_in(tmp_path) if path.startswith(str(tmp_path))]
