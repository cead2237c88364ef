"""The compiled core: programs as bytecode, their derivatives, the Runge-Kutta step, sensitivities.

Read in this order: vectors, bytecode, gradients, dormand_prince, sensitivities; then `numerics/solver.py`.
"""
