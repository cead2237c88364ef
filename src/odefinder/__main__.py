"""`python -m odefinder` is the same as the command `odefinder`."""

from odefinder.cli.app import main

if __name__ == "__main__":
    main()
