"""A real-life CSV file: noise, gaps, unevenly spaced times, and a column that is not a variable.

The truth is a reaction A -> B -> C with the rates 0.8 and 0.3.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from odefinder import ODEFormer, ODESystem, read

rng = np.random.default_rng(1)
truth = ODESystem.from_text("A' = -0.8*A; B' = 0.8*A - 0.3*B")
t = np.sort(rng.uniform(0.0, 10.0, 80))
t[0] = 0.0
observed = truth.simulate([2.0, 0.1], t) * (1.0 + 0.03 * rng.normal(size=(80, 2)))
observed[rng.random((80, 2)) < 0.05] = np.nan  # the instrument failed

path = Path("reaction.csv")
table = pd.DataFrame({"Time (min)": t, "A": observed[:, 0], "B": observed[:, 1], "operator": "JD"})
table.to_csv(path, index=False)

data = read(path, variables=["A", "B"])  # without variables=, the text column is an error that says so
model = ODEFormer().fit(data)
print(model)
print("\nchosen:", repr(model.system_))
print("truth: ", repr(truth))
