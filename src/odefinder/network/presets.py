"""The sizes of the network: `paper`, as published, and `default`, the shipped choice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from odefinder.errors import SettingsError


@dataclass(frozen=True)
class NetworkSettings:
    """What a network is made of; its defaults are the shipped choice."""

    width: int = 384
    heads: int = 6
    encoder_layers: int = 6
    decoder_layers: int = 8
    # How points are read: as numbers (waves of several frequencies), or as the paper's three tokens each.
    embedder: Literal["waves", "tokens"] = "waves"
    waves: int = 10  # frequencies pi, 2 pi, 4 pi, ... of the embedder "waves"
    token_width: int = 64  # of the embedder "tokens"
    max_length: int = 256  # target tokens, EOS included
    vocabulary: str = "coarse"  # preset of tokens.Vocabulary

    def __post_init__(self) -> None:
        if self.width % self.heads:
            raise SettingsError(
                f"the width {self.width} must be a multiple of the number of heads {self.heads}"
            )
        if self.embedder not in ("waves", "tokens"):
            raise SettingsError(f"the embedder is waves or tokens, not {self.embedder!r}")


PRESETS = {
    "default": NetworkSettings(),
    "paper": NetworkSettings(
        width=512,
        heads=16,
        encoder_layers=4,
        decoder_layers=16,
        embedder="tokens",
        max_length=400,
        vocabulary="paper",
    ),
    # For tests: decodes in milliseconds, learns little.
    "tiny": NetworkSettings(width=64, heads=4, encoder_layers=2, decoder_layers=2, waves=6, max_length=128),
}


def network_preset(name: str) -> NetworkSettings:
    """Settings by name."""
    if name not in PRESETS:
        raise SettingsError(f"there is no network preset {name!r}; choose one of {', '.join(PRESETS)}")
    return PRESETS[name]
