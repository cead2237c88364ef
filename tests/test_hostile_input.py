"""Whatever is given to `fit`: a result or one of our errors, in time.

ODEFINDER_HOSTILE=3000 pytest tests/test_hostile_input.py  # more of it
"""

import os
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from odefinder import ODEFormer
from odefinder.errors import OdefinderError
from odefinder.inference.warmup import prepare

numbers = st.floats(width=64) | st.sampled_from([0.0, 1e300, -1e-300, 1e99, 1e-99, 1e12, np.nan, np.inf])
mild = st.floats(-10.0, 10.0)
shapes = st.tuples(st.integers(0, 10), st.integers(0, 2)) | arrays.array_shapes(max_dims=4, max_side=5)
hostile_values = (
    arrays.arrays(np.float64, shapes, elements=numbers | mild)
    | arrays.arrays(np.float64, st.tuples(st.integers(4, 10), st.integers(1, 2)), elements=mild)
    | arrays.arrays(arrays.array_dtypes() | arrays.scalar_dtypes(), shapes)
    | st.lists(numbers | st.none() | st.text(max_size=3) | st.booleans(), max_size=8)
    | st.lists(st.lists(numbers, max_size=3), max_size=6)
    | st.dictionaries(st.text(max_size=4), st.lists(mild, min_size=4, max_size=6), max_size=3)
    | st.none() | st.text(max_size=5) | numbers | st.binary(max_size=4)
)  # fmt: skip
EXAMPLES = int(os.environ.get("ODEFINDER_HOSTILE", "300"))
sorted_times = st.integers(4, 10).map(lambda n: np.arange(float(n)))


@st.composite
def matching(draw: st.DrawFn) -> tuple[Any, Any]:
    """Values and times of one length, which get past the shapes."""
    n, dimension = draw(st.integers(4, 10)), draw(st.integers(1, 2))
    X = draw(arrays.arrays(np.float64, (n, dimension), elements=mild | numbers))
    steps = draw(arrays.arrays(np.float64, n, elements=st.floats(1e-6, 1e6) | st.just(1.0)))
    return X, draw(st.sampled_from([np.cumsum(steps), np.arange(float(n)), 1e9 + np.arange(n)]))


@st.composite
def several(draw: st.DrawFn) -> tuple[Any, Any]:
    """Trajectories that may or may not go together."""
    count, dimension = draw(st.integers(1, 6)), draw(st.integers(1, 2))
    lengths = [draw(st.integers(3, 7)) for _ in range(count)]
    runs = [draw(arrays.arrays(np.float64, (n, dimension), elements=mild | st.just(np.nan))) for n in lengths]
    return runs, draw(st.sampled_from([[np.arange(float(n)) for n in lengths], np.arange(5.0), None]))


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(
    pair=matching() | several() | st.tuples(hostile_values, hostile_values | sorted_times | st.none()),
    sparse=st.sampled_from([True, True, False]),
)
@pytest.mark.filterwarnings("ignore")
def test_every_input_ends_in_a_result_or_one_of_our_errors(pair: tuple[Any, Any], sparse: bool) -> None:
    prepare()
    begin = time.perf_counter()
    try:
        model = ODEFormer(network=False, sparse=sparse, time_budget=0.05).fit(*pair)
        assert len(str(model)) > 0
        assert np.isfinite(model.system_.constants).all()
    except OdefinderError:
        pass
    assert time.perf_counter() - begin < 60.0  # a guard against hanging, not a measurement
