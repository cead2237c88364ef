"""Fits in which something is known: half of an equation, a constant, a conserved sum, constants that vary."""

import numpy as np

from odefinder import ODEFormer, ODESystem

# A pendulum of which only the angle was measured: gravity is known, the damping is not.
pendulum = ODESystem.from_text("theta' = omega; omega' = -9.81*sin(theta) - 0.3*omega")
t = np.linspace(0, 6, 90)
angle = pendulum.simulate([2.0, 0.0], t)[:, :1]
model = ODEFormer(
    known="theta'' = -g*sin(theta)/L + ?(theta_dot)", fixed={"g": 9.81}, bounds={"L": (0, None)}, order=2,
    network=False,
)  # fmt: skip
model.fit(angle, t, variables=["theta"])
print(f"Pendulum: length {model.constants_['L']:.3f}")
print(model)

# Three growth curves with one law: the rate differs, the capacity does not.
t = np.linspace(0, 8, 40)
curves = [ODESystem.from_text(f"N' = {r}*N*(1 - N/7)").simulate([0.3], t) for r in (0.5, 0.9, 1.4)]
growth = ODEFormer(known="N' = r*N*(1 - N/K)", vary=["r"]).fit(curves, [t] * 3, variables=["N"])
print("Growth rates:", ", ".join(f"{rate:.3f}" for rate in growth.constants_["r"]))
print("At a rate of 0.7:", growth.simulate([0.3], t, conditions={"r": 0.7})[-1].round(3))
