"""Explicit time: a force of unknown frequency, and a rate that fades.

With `explicit_time=True` the equations may contain the time t itself.  Frequencies of sines and times of
switching on are found from the data.  Use it where something acts that was not measured; what was measured
is an input.
"""

import numpy as np

from odefinder import ODEFormer, ODESystem

t = np.linspace(0, 25, 150)
floor = ODESystem.from_text("x' = v; v' = -2*x - 0.4*v + 1.5*sin(0.9*t)", inputs=["t"])
position = floor.simulate([0.5, 0.0], t)[:, :1]
position += 0.02 * np.random.default_rng(5).standard_normal(position.shape)

model = ODEFormer(order=2, explicit_time=True).fit(position, t, variables=["x"])
print(model)

later = np.linspace(0, 40, 200)
truth = floor.simulate([0.5, 0.0], later)[150:, 0]
forecast = model.simulate(t=later)[150:, 0]
print(f"\nLargest error of the forecast until t = 40: {np.abs(forecast - truth).max():.2f}")

catalyst = ODESystem.from_text("c' = 1 - 0.8*exp(-0.3*t)*c", inputs=["t"])
fading = ODEFormer(explicit_time=True).fit(catalyst.simulate([0.2], t), t, variables=["c"])
print(f"A catalyst that fades: {fading.system_}")
