"""Below the surface: equations from text, their trajectories, and random systems from the prior.

`python examples/systems_and_prior.py` writes systems_and_prior.png to the current folder.
"""

import matplotlib as mpl
import numpy as np

from odefinder import ODESystem, Program, corrupt
from odefinder.expressions.canonical import canonical
from odefinder.language.tokens import Vocabulary
from odefinder.numerics.integrate import integrate
from odefinder.prior.examples import EXAMPLE, Example, new_counts
from odefinder.prior.families import FAMILY_NAMES
from odefinder.prior.presets import prior_preset
from odefinder.prior.sampler import fill

mpl.use("Agg")  # a file, no window
import matplotlib.pyplot as plt

SEED = 21


def title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


def system_of(example: Example) -> ODESystem:
    """The system behind an example of the prior."""
    n, names = example["n_nodes"], tuple(f"x{i}" for i in range(example["dimension"]))
    return ODESystem(canonical(Program(example["ops"][:n], example["values"][:n])), names)


title("A system from text")
system = ODESystem.from_text(
    "rabbits' = a*rabbits - b*rabbits*foxes; foxes' = foxes*(c*rabbits - d)",
    constants={"a": 1.1, "b": 0.4, "c": 0.1, "d": 0.4},
)
print(system)
print(f"Complexity (operators, variables and constants): {system.complexity}")

title("As LaTeX")
print(system.latex())

print("\nCompiling once, about a minute; later runs start at once ...", flush=True)

title("In canonical form: one way to write what can be written in many")
print(ODESystem(canonical(system.program), system.variables))

title("Simulated: 4 of 300 points")
t = np.linspace(0.0, 40.0, 300)
x = system.simulate([10.0, 5.0], t)
for i in range(0, 300, 75):
    print(f"t = {t[i]:5.2f}   rabbits {x[i, 0]:6.3f}   foxes {x[i, 1]:6.3f}")
noisy_t, noisy_x = corrupt(t, x, sigma=0.05, rho=0.5, seed=SEED)

title(f"Three random systems from the prior (seed {SEED}), in the units the network sees")
examples, counts = np.zeros(3, EXAMPLE), new_counts()
vocabulary = Vocabulary.preset("coarse")
fill(examples, counts, seed=SEED, first=0, prior=prior_preset("default"), layout=vocabulary.layout)
for example in examples:
    print(
        f"Family {FAMILY_NAMES[example['family']]}; trajectories: {example['n_trajectories']}, "
        f"points: {example['n_points']}, noise: {example['sigma']:.3f}"
    )
    print(f"{system_of(example)}\n")
words = vocabulary.words(examples[0]["tokens"][: examples[0]["n_tokens"]])
print("The first one as the network should spell it:", " ".join(words))
print(f"To find these, {counts.sum()} systems were drawn; the others blew up, stood still or were too long.")

figure, axes = plt.subplots(1, 4, figsize=(16, 3.5), layout="constrained")
axes[0].plot(t, x)
axes[0].set_prop_cycle(None)
axes[0].plot(noisy_t, noisy_x, ".", markersize=4)
axes[0].legend(system.variables)
axes[0].set_title("simulated; dots: 5 % noise, half dropped")
for axis, example in zip(axes[1:], examples, strict=True):
    drawn, n = system_of(example), example["n_points"]
    first = example["trajectory"][:n] == 0
    times, states = example["times"][:n][first], example["states"][:n][first, : drawn.dimension]
    fine = np.linspace(times[0], times[-1], 400)
    truth, _ = integrate(drawn.program, example["starts"][0, : drawn.dimension], fine)
    axis.plot(fine, truth)
    axis.set_prop_cycle(None)
    axis.plot(times, states, ".", markersize=4)
    axis.set_title(f"prior: {FAMILY_NAMES[example['family']]}")
for axis in axes:
    axis.set_xlabel("t")
figure.savefig("systems_and_prior.png", dpi=110)
print("\nWrote systems_and_prior.png: the simulated data and the first trajectory of each random system.")
