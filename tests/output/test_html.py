"""A result in a notebook."""

import xml.etree.ElementTree as ET

import numpy as np

from odefinder import ODEFormer, ODESystem
from odefinder.data import from_arrays
from odefinder.inference.remarks import Explanation
from odefinder.output.html import as_html

T = np.linspace(0.0, 4.0, 20)


def test_the_table_has_drawn_equations() -> None:
    data = from_arrays({"t": T, "x": np.exp(-T), "<y>": T}, variables=["x", "<y>"])
    name = data.variables[1]
    system = ODESystem.from_text(f"x' = -x; {name}' = 1")
    one = Explanation(system, data.first_values(), 1.0, 0.0, 0.9, "network")
    html = as_html(data, [one, one], 0, ["a note with <b>"])
    root = ET.fromstring(html)
    assert len(root.findall(".//math")) == 2
    seen = "".join(root.itertext())
    assert "x′=−x" in seen
    assert "a note with <b>" in seen
    assert "▸" in seen


def test_notebooks_get_both() -> None:
    model = ODEFormer()
    assert set(model._repr_mimebundle_()) == {"text/plain"}
    assert model._repr_html_() is None
