"""Several experiments with one system: each with its own times and initial values.

A bistable system rests at x = 0 or at x = 2, depending on where it starts.  One noisy trajectory shows only
one of the two; three together tell the whole story.
"""

import numpy as np

from odefinder import ODEFormer, ODESystem

rng = np.random.default_rng(0)
truth = ODESystem.from_text("x' = x*(1 - 0.5*x)*(x - 0.6)")
times = [np.linspace(0, 8, 60), np.linspace(0, 5, 40), np.linspace(2, 12, 50)]
starts = [0.5, 0.8, 3.0]
runs = [truth.simulate([x0], t) for x0, t in zip(starts, times, strict=True)]
runs = [run + 0.03 * rng.normal(size=run.shape) for run in runs]

new_times = np.linspace(0, 10, 100)
new_run = truth.simulate([1.2], new_times)

model = ODEFormer().fit(runs, times, variables=["x"])
print(model)
print(f"\nR2 on a new trajectory, all together: {model.score(new_run, new_times):.3f}")

# Independent datasets get one fit each; n_jobs and backend are those of joblib.
alone = ODEFormer().fit_many(zip(runs, times, strict=True), n_jobs=2, backend="threading")
for x0, one in zip(starts, alone, strict=True):
    print(f"R2 on it from the trajectory that starts at {x0} alone: {one.score(new_run, new_times):.3f}")
