"""Where work ends: sizes that everything agrees on, time budgets, Ctrl-C."""
