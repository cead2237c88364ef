"""Put in what you know: the operators that may occur, and a first guess.

The pendulum that comes with odefinder: angle' = velocity, velocity' = -0.25 velocity - 4 sin(angle), with
3 % noise.
"""

from odefinder import ODEFormer, sample

data = sample("pendulum")

print("Polynomials:")
print(ODEFormer(operators=["pow2", "pow3"]).fit(data).system_)

print("\nSums, products and sines:")
print(ODEFormer(operators=["sin"]).fit(data).system_)

print("\nFrom a guess, with its place among all systems that were found:")
model = ODEFormer(guess="angle' = velocity; velocity' = -0.1*velocity - 5*sin(angle)").fit(data)
guesses = model.equations_[model.equations_["source"] == "guess"]
print(guesses[["complexity", "r2", "weight"]].to_string())
print(guesses["system"].iloc[0])
