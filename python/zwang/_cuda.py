"""Finds NVRTC where a wheel brought it: ``pip install zwang[cuda]``."""
from __future__ import annotations

import glob
import importlib.util
import os

from . import _core


def nvrtc_libraries() -> list[str]:
    """Paths of NVRTC in the folders of NVIDIA's wheels, the newest version first."""
    try:
        found = importlib.util.find_spec("nvidia")
    except (ImportError, ValueError):
        return []
    places = list(found.submodule_search_locations or []) if found is not None else []
    paths = [path for place in places for path in glob.glob(os.path.join(place, "*", "lib", "libnvrtc.so.[0-9]*"))]
    return sorted(paths, key=lambda path: path.rpartition(".so.")[2], reverse=True)


_core.search_nvrtc_in(nvrtc_libraries())
