"""The paper's tables and figures, run again: `rcexplainer reproduce` and `rcexplainer report`.

From an entry to its pages:

    entry_files/, plan, entries, job_lists   which jobs an entry is made of
    job, job_kinds, job_work, runner         what a job is, does, and how many run at a time
    record, store, packs, failures, origin   what is kept of them, and where it comes from
    results_folder                           all that is known, read together
    result_groups, cells, table, *_tables    tables; headlines: one an entry
    captions, reference                      what captions say of networks and protocol; numbers that others report
    *_figures, figure_style, figure_files    figures
    checks, *_claims, verdicts               what the results must show, and whether they do
    markdown_pages, notes, paper_index       Markdown pages; paper_index: from the paper's tables and figures to ours
    report, report_contents, report_page     report.html, from templates/

case_study, tradeoff, tuning, dial, qualitative_examples and training_diagram are experiments of their own.
"""
