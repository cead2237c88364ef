"""Systems for the tests of exports."""

from odefinder import ODESystem

PREY = ODESystem.from_text("hare' = 0.4428*hare - 0.0234*hare*lynx; lynx' = 0.03*hare*lynx - 1.008*lynx")
DRIVEN = ODESystem.from_text(
    "x' = v; v' = -1.7*x - 0.3*v + u*cos(0.9*t) + 0.1*w/mass", inputs=["u", "t", "mass", "w"]
)
DRIVERS = {
    "inputs": {"u": ([0.0, 2.0, 2.0, 5.0, 9.0], [0.0, 1.0, 3.0, -1.5, 0.2]), "w": ([1.0, 3.5], [2.0, 1.0])},
    "conditions": {"mass": 2.5},
}
EVERYTHING = ODESystem.from_text(
    "x' = sin(x) + cos(y) + tan(x/7) + exp(-y) + log(x^2 + 1) + sqrt(abs(x)) + tanh(y) - 1/(x*y)^3; "
    "y' = x^4 - 2*y^5 + (x^2 + 1.5)^1.7 - 3.25e-7*x^(-2) + 2^y - (-x)^2 + x^7/(1 + y^2)"
)
HOSTILE = ("lambda", "np", "state", "β", "温度", "end", "True", "_x", "time", "k1", "μ_1", "größe", "dstate")


def hostile_system() -> ODESystem:
    """One equation for each hostile name, which reads its own variable and the next one."""
    nexts = (*HOSTILE[1:], HOSTILE[0])
    sides = {one: f"0.5*{other} - 1.5*{one}" for one, other in zip(HOSTILE, nexts, strict=True)}
    return ODESystem.from_text(sides)
