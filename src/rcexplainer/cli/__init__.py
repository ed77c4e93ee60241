"""The command line, one thin file per command: read the options, call the library, print a table or one JSON document.

Results go to standard output, progress and messages to standard error. A user's mistake is one line and exit code 2.
"""

from rcexplainer.cli.app import main

__all__ = ["main"]
