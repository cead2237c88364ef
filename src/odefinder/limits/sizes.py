"""The largest problems the network was made for; prior, network, training and inference share these."""

from __future__ import annotations

MAX_DIMENSION = 6  # variables of a system, as in the paper
MAX_POINTS = 200  # observed points of one dataset, over all its trajectories
MAX_TRAJECTORIES = 4
MAX_TOKENS = 400  # per written system
