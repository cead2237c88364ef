"""Inputs: a motor with a known voltage, and a drug whose doses are known.

An input drives the system and has no equation of its own.  It is given as values at the times of the data
(here: held until the next one), as a table with its own times, or as a function u(t).  The model predicts
what other inputs do.  Doses are jumps: a column `amt` has their amounts.
"""

import numpy as np
import pandas as pd

from odefinder import ODEFormer, ODESystem
from odefinder.data import Hold

motor = ODESystem.from_text("speed' = 4*u - 0.8*speed - 0.3*speed*abs(speed)", inputs=["u"])
t = np.linspace(0, 12, 121)
voltage = np.select([t < 3, t < 6, t < 9], [1.0, -0.5, 2.0], 0.0)
speed = motor.simulate([0.0], t, inputs={"u": Hold(voltage)})
speed += 0.02 * np.random.default_rng(0).standard_normal(speed.shape)

model = ODEFormer().fit(speed, t, variables=["speed"], inputs={"u": Hold(voltage)})
print(model)
model.plot("driven_motor.png")  # inputs have a panel of their own

wave = motor.simulate([0.0], t, inputs={"u": np.sin})
print(f"\nR2 under a voltage that was never tried: {model.score(wave, t, inputs={'u': np.sin}):.3f}")
later = model.forecast(5.0, points=3, inputs={"u": 1.0})
print("Five seconds on, at 1 V:", later.states[-1].round(2))

drug = ODESystem.from_text("c' = -0.35*c")
table = pd.DataFrame({"time": np.arange(0.0, 24.5, 0.5)})
table["c"] = drug.simulate([0.0], table["time"], doses={"c": [(0.0, 8.0), (12.0, 8.0)]})[:, 0]
table["amt"] = np.where(table["time"].isin([0.0, 12.0]), 8.0, 0.0)
drugged = ODEFormer(network=False).fit(table, inputs=["amt"])
print(f"\nThe drug: {drugged.system_}")
again = drugged.simulate([0.0], [0.0, 6.0, 12.0], doses={"c": [(0.0, 4.0), (6.0, 4.0)]})
print("Half the dose, twice as often, after 12 h:", again[-1].round(2))
