"""Files that are whole or not there, and from which nothing is unpickled."""
