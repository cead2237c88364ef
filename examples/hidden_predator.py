"""A variable nobody measured: the predator of a prey that was counted.

A prey rises and falls, which no equation prey' = f(prey) can explain.  With `hidden=1` the equations have one
more state.  Its scale is free, so a coefficient of its effect is 1; its path is drawn dashed.
"""

import numpy as np

from odefinder import ODEFormer, ODESystem

truth = ODESystem.from_text("prey' = 0.9*prey - 0.5*prey*p; p' = 0.25*prey*p - 0.6*p")
days = np.linspace(0, 30, 120)
counted = truth.simulate([4.0, 1.0], days)[:, :1]
counted += 0.02 * counted.std() * np.random.default_rng(1).standard_normal(counted.shape)

model = ODEFormer(hidden=1).fit(counted, days, variables=["prey"])
print(model)

later = np.linspace(30, 50, 5)
forecast = model.simulate(t=np.concatenate([[0.0], later]))[1:, 0]
print("\nTwenty days on, forecast and truth:")
print(forecast.round(1), truth.simulate([4.0, 1.0], np.concatenate([[0.0], later]))[1:, 0].round(1))

model.plot("hidden_predator.png")
