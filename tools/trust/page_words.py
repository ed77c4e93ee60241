"""The words of docs/trust.md: what each part tries, and what it leaves out. All numbers are from its file."""

TITLE = "# What was tried to break it"
OPENING = """\
Unless its part says otherwise, every figure on this page was printed by the command beside it; all are kept in
[docs/trust](trust). `make trust` runs the kills, the hostile inputs, the fuzzing and the audit at sizes that fit in
half an hour; devices, mutants, versions and stored results have commands of their own. This page is made by
`python tools/trust/page.py`.

What it rests on: files are written under a temporary name and then moved to their place, so that no half of one is ever
seen; saved explainers, networks and checkpoints have a SHA-256 over all their bytes, results in JSON one over their
values, Parquet results one for each page; a file that fails it is refused, or made again where that is possible. Files
of versions before 0.3 have no checksum: they load, with a warning. Ctrl-C and SIGTERM write what there is, say how to
go on, and end a command with exit code 130 or 143."""
NOT_CALLED = {
    "datasets": ("names",),
    "viz": ("target_grid", "legend", "notebook_svg", "subplots"),
    "testing": ("check_method", "fidelity_drop", "motif_score"),
    "integrations": ("ray",),
}
UNCALLED = "; ".join(f"in `rc.{part}` {', '.join(f'`{name}`' for name in names)}" for part, names in NOT_CALLED.items())
# Figures of runs that did not record their commit: the commit with which they came into the repository.
ENTERED = {
    "kills": "cdd6ffd",
    "cases": "e126d59",
    "mutants": "76e9446",
    "audit": "58a4533",
}
PARTS = {
    "kills": (
        "Killed anywhere",
        "Commands are started as processes on small synthetic inputs, killed at seeded random moments (the process "
        "alone, or its whole group), and started again by the same command until they are done. Then their folders are "
        "compared with those of a run that nobody interrupted: the same files, none left over, the same content apart "
        "from times. One in ten moments lies in the first seconds of a new interpreter, the others anywhere after the "
        "first output of a process forked from an interpreter that has imported torch already.",
    ),
    "cases": (
        "Hostile graphs and models",
        "Generated graphs and models go through the calls of the table: each ends in an answer or in an error of "
        "ours, within its budget, and leaves the model as it was; every claimed flip is run again alone. `save` is "
        f"saving and loading, `integrations.pyg` its algorithm called as PyG's `Explainer` calls it, and by it. Not "
        f"called by themselves: {UNCALLED}. Of these, `datasets.names` takes no arguments, every drawing makes its "
        "`subplots`, `notebook` calls `notebook_svg`, `rc.testing` is itself a suite that tests methods, "
        "and `ray` starts a cluster; `target_grid` and `legend` were not tried with odd arguments.",
    ),
    "fuzz": (
        "Readers fuzzed",
        "Coverage-guided fuzzing of the readers of files and uploads that the table names, each in a run of its own on "
        "a machine that did other work too. Eleven findings of earlier runs, and a Parquet footer at which pyarrow "
        "ends the process, are fixed and kept as tests (tests/hostile/test_readers.py, "
        "tests/datasets/test_parquet_footer.py).",
    ),
    "devices": (
        "Devices and number types",
        "One fitted explainer, moved to each device and number type, must rank the same edges first.",
    ),
    "mutants": (
        "Mutants",
        "Small changes of the code (operators of cosmic-ray, one per place; annotations and messages excluded), each "
        "of which some test must notice if it changes behaviour. Each is tried with a few seconds of the tests that "
        "execute its line, and what survives once more with more of them; survivors stand in "
        "`tools/trust/survivors.toml`, each with its reason. `change nothing`: no user could see the change. A mutant "
        "that ends in a time limit counts as killed; one that no test executes counts as survived.",
    ),
    "mutants-since": (
        "Mutants of what has changed since",
        "The same for the lines that are not as they were when the figures above were made, plans of deletions among "
        "them.",
    ),
    "versions": (
        "Oldest, pinned and newest packages",
        "The suite with the oldest supported, the pinned and the newest torch, PyG and others.",
    ),
    "audit": ("Audit", "Known vulnerabilities of dependencies, and patterns of unsafe code."),
    "again": (
        "Stored results, run again",
        "The results in `results/` were made by earlier commits of this version, which their pages name. Some of every "
        "entry, drawn at random, were run again from nothing with the sources named here, networks included, and "
        "compared value by value. One thread, as in the stored results: with more, sums are taken in another order. "
        "Left out are jobs that measure time, and those that take long or whose networks do (`--longest`).",
    ),
}
FAULTS = """\
## Faults injected

Each has tests in `tests/faults`:

| fault | what happens |
|---|---|
| disk full | the error says what could not be written; the file before it is whole, nothing half written is left |
| folder read-only | an error before the work begins |
| one byte wrong | explainers, networks and named checkpoints are refused; other results are made again |
| file of a later version | an error that says so |
| header that claims a huge size | refused before memory is taken |
| model that raises on every tenth graph | `explain` keeps the error, `fit` leaves it out; others are answered |
| out of memory | `explain` halves its batches; `fit` says how many instances are too many |
| two processes in one folder | the second is refused; where no user named the file, it goes on without one |
| clock set back | budgets, checkpoints and progress bars go on |"""
