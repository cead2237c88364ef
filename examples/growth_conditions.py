"""Conditions: growth curves at different temperatures, and constants that differ for unknown reasons.

A condition is known and constant within each trajectory.  It may occur anywhere in the equations, so the
model predicts a temperature that was never tried.  Where it is not known what differs, constants get a value
for each trajectory: `vary` names those of known equations, and without any the criterion decides.
"""

import numpy as np

from odefinder import ODEFormer, ODESystem

rng = np.random.default_rng(3)
growth = ODESystem.from_text("N' = 0.04*T*N*(1 - N/9)", inputs=["T"])
hours = np.linspace(0, 10, 50)
warmth = [8.0, 16.0, 24.0, 32.0]
curves = [growth.simulate([0.4], hours, conditions={"T": T}) for T in warmth]
curves = [curve + 0.05 * rng.standard_normal(curve.shape) for curve in curves]
times = [hours] * len(curves)

model = ODEFormer().fit(curves, times, variables=["N"], conditions=[{"T": T} for T in warmth])
print(model)
model.plot("growth_conditions.png")  # conditions have colours
truth = growth.simulate([0.4], hours, conditions={"T": 20.0})
at_20 = model.simulate([0.4], hours, conditions={"T": 20.0})
print(f"\nLargest error at 20 degrees, never tried: {np.abs(at_20 - truth).max():.2f}")

known = ODEFormer(known="N' = r*N*(1 - N/K)", vary=["r"]).fit(curves, times, variables=["N"])
rates = ", ".join(f"{rate:.2f}" for rate in known.constants_["r"])
print(f"Rates without the temperatures: {rates}; capacity: {known.constants_['K']:.1f}")
