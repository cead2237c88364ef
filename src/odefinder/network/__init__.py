"""The transformer: its sizes, its files, and two ways to run it."""
