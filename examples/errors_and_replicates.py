"""Errors: standard errors of the values, and several measurements at one time.

Values with small errors count more, and errors say how close is close enough.  They are a column of the
table (`c_sd` next to `c` is found by its name), values, or one number.  Several rows at one time are
replicates: they are averaged, and their spread gives the errors.
"""

import numpy as np
import pandas as pd

from odefinder import ODEFormer, ODESystem

rng = np.random.default_rng(7)
truth = ODESystem.from_text("c' = 2 - 1.5*c/(0.8 + c)")
minutes = np.linspace(0, 3, 25)
exact = truth.simulate([0.1], minutes)[:, 0]

spread = np.where(minutes < 1.5, 0.01, 0.2)  # a better instrument at first
table = pd.DataFrame({"time": minutes, "c": exact + spread * rng.standard_normal(25), "c_sd": spread})
model = ODEFormer(known="c' = a - v*c/(K + c)").fit(table)
print("With a column of errors:")
print(model.summary())

three = pd.DataFrame(
    {"time": np.repeat(minutes, 3), "c": np.repeat(exact, 3) + 0.05 * rng.standard_normal(75)}
)
replicates = ODEFormer(network=False).fit(three)
print("\nThree measurements at each time:")
print(replicates.system_)
print("Noise of their means:", replicates.noise_.round(3), "from 0.05 for a single one")

plain = ODEFormer(network=False).fit(three, errors={"c": 0.05})  # one number for all values
print("With errors of 0.05:", plain.system_)
