"""The commands of `odefinder`, one file each."""
