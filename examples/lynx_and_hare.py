"""Real measurements: pelts of snowshoe hare and lynx, Hudson's Bay Company, 1900-1920.

Twenty-one noisy points of two variables.  Ecologists expect something like the equations of Lotka and
Volterra, hare' = a hare - b hare lynx and lynx' = c hare lynx - d lynx: are they among what is found?
"""

from odefinder import ODEFormer, sample

data = sample("hare_lynx")  # or odefinder.read("your.csv")
model = ODEFormer().fit(data)
print(model)
print()
print("Noise of the counts, in thousands of pelts:", model.noise_.round(1))

for row, system in enumerate(model.equations_["system"]):
    if system.complexity <= 20 and system.program.operators() <= {"add", "mul"}:
        print(f"\nThe best system with sums and products only is row {row}:")
        print(model.choose(row).system_)
        break

print("\nFive years on from 1920, hare and lynx:")
print(model.simulate(x0=model.simulate()[-1], t=range(1920, 1926)).round(1))

model.plot("lynx_and_hare.png")
