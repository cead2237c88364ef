"""What a training run is: its data, its batches, its schedule."""

from __future__ import annotations

from dataclasses import dataclass

from odefinder.errors import SettingsError


@dataclass(frozen=True)
class TrainingSettings:
    """A run; the defaults are the shipped choice.

    There are few batch shapes, so that each is compiled once: every batch has one of `points` observed points
    and targets padded to one of `lengths`; its size keeps the number of tokens near `batch_tokens`.
    """

    network: str = "default"
    prior: str = "default"
    seed: int = 1
    points: tuple[int, ...] = (12, 32, 75, 150)
    lengths: tuple[int, ...] = (32, 64, 112, 200)
    batch_tokens: int = 120_000  # points + target tokens per batch
    reserve: int = 6  # batches per shape among which examples are shuffled
    learning_rate: float = 1e-3
    muon: bool = True
    warmup: float = 0.02  # share of the plan
    decay: float = 0.4  # share of the plan
    clip: float = 1.0
    constants: float = 1.0  # how much it counts which number a constant is, next to where constants stand
    outlines: float = 0.5  # share of the examples whose target is an outline (language/outlines.py)
    average: int = 1500  # steps over which the weights are averaged for use
    compile: bool = True
    threads: int = 0  # that draw examples; 0: all cores but two

    def __post_init__(self) -> None:
        if not self.points or not self.lengths or list(self.lengths) != sorted(self.lengths):
            raise SettingsError("points and lengths must not be empty, lengths in increasing order")
        if not 0.0 < self.learning_rate < 1.0:
            raise SettingsError(f"the learning rate is between 0 and 1, not {self.learning_rate:g}")
        if not (0.0 <= self.warmup <= 1.0 and 0.0 <= self.decay <= 1.0):
            raise SettingsError("warmup and decay are shares of the plan, from 0 to 1")
        if not 0.0 <= self.outlines <= 1.0:
            raise SettingsError(f"the share of outlines is between 0 and 1, not {self.outlines:g}")
        if not 0.0 <= self.constants <= 1.0:
            raise SettingsError(f"the weight of constants is between 0 and 1, not {self.constants:g}")

    def batch_size(self, points: int, length: int) -> int:
        """Examples per batch of this shape, a multiple of 8."""
        return max(8, self.batch_tokens // (points + length) // 8 * 8)


PRESETS = {
    "default": TrainingSettings(),
    # The paper's data, targets, network, optimiser and rate; its batches have 10,000 tokens.
    "paper": TrainingSettings(
        network="paper",
        prior="paper",
        batch_tokens=10_000,
        lengths=(64, 112, 200, 400),
        learning_rate=2e-4,
        muon=False,
        outlines=0.0,
        warmup=0.012,
        decay=0.988,
    ),
    "tiny": TrainingSettings(
        network="tiny",
        points=(48,),
        lengths=(64, 128),
        batch_tokens=4_000,
        reserve=2,
        learning_rate=3e-3,
        compile=False,
        threads=1,
    ),
}


def training_preset(name: str) -> TrainingSettings:
    """Settings by name."""
    if name not in PRESETS:
        raise SettingsError(f"there is no training preset {name!r}; choose one of {', '.join(PRESETS)}")
    return PRESETS[name]
