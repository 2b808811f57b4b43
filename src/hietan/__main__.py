"""Run the command line as `python -m hietan`."""

from hietan.cli import main

if __name__ == "__main__":
    main()
