"""NetCDF files as xarray Datasets, read by the library that wrote them: no other reader is needed."""
from __future__ import annotations

import threading
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core

if TYPE_CHECKING:
    import xarray


# Filters of warnings belong to the process, not to a thread.
_filters = threading.Lock()


def _attribute(kind: str, value: Any) -> Any:
    if kind == "text":
        return value[0] if len(value) == 1 else value
    if kind == "S1":
        return bytes(value).decode("utf-8", "replace")
    array = value.view(kind)
    return array[0] if array.size == 1 else array


def _array(kind: str, value: Any, shape: list[int]) -> Any:
    if kind == "text":
        array = np.empty(len(value), dtype=object)
        array[:] = value
        return array.reshape(shape)
    return value.view(kind).reshape(shape)


def dataset(name: str, source: bytes | str) -> "xarray.Dataset":
    """The file as ``xarray.open_dataset`` gives it, loaded into memory. ``source``: its bytes or its path."""
    import xarray

    raw = _core.read_netcdf(name, source) if isinstance(source, bytes) else _core.read_netcdf_file(name, source)
    attributes, variables = raw
    made = {}
    with _filters, warnings.catch_warnings():
        # measure_covariance is by (measure, measure).
        warnings.filterwarnings("ignore", message="Duplicate dimension names")
        for own, dimensions, shape, notes, (kind, value) in variables:
            described = {key: _attribute(*content) for key, content in notes}
            made[own] = xarray.Variable(dimensions, _array(kind, value, shape), described)
        described = {key: _attribute(*content) for key, content in attributes}
        return xarray.decode_cf(xarray.Dataset(made, attrs=described)).load()
