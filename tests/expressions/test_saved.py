"""Systems as plain data; what is damaged is tested with ODESystem."""

import pytest

from odefinder.errors import DataError
from odefinder.expressions.saved import SavedSystem, as_dict, read_dict
from tests.programs import words


@pytest.mark.parametrize("inputs", [(), ("u",)])
def test_there_and_back(inputs: tuple[str, ...]) -> None:
    saved = SavedSystem(words("mul -0.5 x0 x1"), ("a", "b"), inputs)
    data = as_dict(saved, ["a' = -0.5*a", "b' = b"])
    assert data["version"] == 1 + bool(inputs)
    assert data["program"] == ["mul", -0.5, "$0", "$1"]
    assert read_dict(data) == saved


def test_an_old_version_has_no_inputs() -> None:
    data = {**as_dict(SavedSystem(words("x0"), ("a",), ("u",)), []), "version": 1}
    assert read_dict(data).inputs == ()
    with pytest.raises(DataError, match="version is True"):
        read_dict({**data, "version": True})
