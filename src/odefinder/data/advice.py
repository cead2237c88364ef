"""What several messages about data say."""

MIN_POINTS = 4  # of a trajectory, and of a variable

LEAVE_OUT = "leave the column out by naming the others: variables=['NAME', ...] (command line: --variables)"
SEPARATE = (
    "give several trajectories as lists, [X1, X2] and [t1, t2], or name the column that tells them apart: "
    "trajectory='NAME' (command line: --trajectory NAME)"
)
