"""What to do next, in the words of the page."""

import numpy as np

from odefinder import ODEFormer
from odefinder.data.advice import LEAVE_OUT, SEPARATE
from odefinder.web.advice import on_the_page, suggestions

T = np.linspace(0.0, 10.0, 60)


def test_options_of_the_command_line_become_roles() -> None:
    assert on_the_page(SEPARATE).endswith("(on this page: choose “trajectory” over the column)")
    assert on_the_page(LEAVE_OUT).endswith("(on this page: choose “leave out” over the column)")
    assert on_the_page("(command line: --budget 5)") == "(command line: --budget 5)"


def test_a_poor_result_comes_with_other_options() -> None:
    swing = np.cos(T)[:, None]
    poor = ODEFormer(time_budget=1.0, network=False).fit(swing, T, variables=["x"])
    offered = [one["options"] for one in suggestions(poor)]
    assert {"order": "2"} in offered
    assert {"time_budget": 6.0} in offered
    good = ODEFormer(time_budget=5.0, network=False, order=2).fit(swing, T, variables=["x"])
    assert {"order": "2"} not in [one["options"] for one in suggestions(good)]
