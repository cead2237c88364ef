"""Benchmarks: published systems with known equations."""

from odefinder.bench.systems import BenchSystem, odebench, strogatz

__all__ = ["BenchSystem", "odebench", "strogatz"]
