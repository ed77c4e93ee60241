"""`python -m rcexplainer` is the command line."""

from rcexplainer.cli import main

main()
