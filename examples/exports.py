"""What to do with a result: LaTeX, SymPy, a Python function for SciPy, JSON."""

import numpy as np
from scipy.integrate import solve_ivp

from odefinder import ODEFormer, ODESystem

truth = ODESystem.from_text("x' = y; y' = -x + 0.5*(1 - x^2)*y")
t = np.linspace(0.0, 12.0, 150)
model = ODEFormer(network=False).fit(truth.simulate([0.5, 0.0], t), t, variables=["x", "y"])
print(model.system_)

print("\nLaTeX:")
print(model.latex())

print("\nSymPy:")
print(model.sympy())

print("\nA Python function that needs only NumPy:")
source = model.system_.python()
print(source)

names: dict = {}
exec(source, names)
solution = solve_ivp(names["f"], (0.0, 30.0), [0.5, 0.0], rtol=1e-8, atol=1e-8)
print("SciPy, at t = 30:    ", solution.y[:, -1].round(4))
print("odefinder, at t = 30:", model.simulate([0.5, 0.0], [0.0, 30.0])[-1].round(4))

model.save("oscillator.json")  # readable, not a pickle: odefinder simulate oscillator.json --t-end 30
again = ODEFormer.load("oscillator.json")
assert again.system_ == model.system_
