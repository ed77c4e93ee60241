"""`python -m rcexplainer` runs the command line."""

from rcexplainer.cli import main

main()
