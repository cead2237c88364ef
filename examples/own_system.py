"""A system of your own: simulate it, spoil the data, and see whether it is found again.

This is the way to learn how many points, how little noise and which initial values a question needs.
"""

import numpy as np

from odefinder import ODEFormer, ODESystem, corrupt

truth = ODESystem.from_text(
    "S' = -b*S*I; I' = b*S*I - g*I", constants={"b": 0.9, "g": 0.3}
)  # an epidemic: susceptible and infected
t = np.linspace(0.0, 25.0, 120)
x = truth.simulate([0.99, 0.01], t)

for sigma in (0.0, 0.02, 0.05):
    t_seen, x_seen = corrupt(t, x, sigma=sigma, rho=0.3, seed=1)  # noise, and 30 % of the points dropped
    model = ODEFormer().fit(x_seen, t_seen, variables=["S", "I"])
    other = truth.simulate([0.6, 0.02], t)
    simulated = model.system_.simulate([0.6, 0.02], t)
    error = np.abs(simulated - other).max()
    print(f"noise {sigma:.0%}: {'; '.join(str(model.system_).splitlines())}")
    print(f"          largest error from other initial values: {error:.3f}\n")
