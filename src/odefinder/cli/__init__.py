"""The command `odefinder`, one file for each command."""
