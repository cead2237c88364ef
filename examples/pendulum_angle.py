"""Second order: a camera saw the angle of a pendulum, nobody measured its velocity.

With `order=2` the state has a velocity, too: theta' = theta_dot is fixed, and the equation of theta'' is
looked for.  Without it, a note says what is missing: an angle that swings to and fro has no equation
theta' = f(theta).  `order={"theta": 2}` is for one variable among others, and a column called `theta_dot`
would be a measured velocity.
"""

import numpy as np

from odefinder import ODEFormer, ODESystem

truth = ODESystem.from_text("theta' = w; w' = -3.2*sin(theta) - 0.12*w")
seconds = np.linspace(0, 10, 120)
angle = truth.simulate([2.2, 0.0], seconds)[:, :1]
angle += 0.01 * np.random.default_rng(2).standard_normal(angle.shape)

first = ODEFormer(network=False).fit(angle, seconds, variables=["theta"])
print("Order 1:", *(note for note in first.notes_ if "order=2" in note))

model = ODEFormer(order=2).fit(angle, seconds, variables=["theta"])
print("\nOrder 2:")
print(model)
print("\nThe velocity at the start, which was fitted:", model.starts_[0, 1].round(2))

push = truth.simulate([0.3, 2.0], seconds)[:, :1]
print(f"R2 of another swing: {model.score(push, seconds):.3f}")
model.plot("pendulum_angle.png")
