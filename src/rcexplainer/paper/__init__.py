"""The paper's tables and figures, run again: jobs whose results are kept, and entries that are made of them."""
