"""Datasets of any size, explained from files to files by an engine that keeps what it has when it is killed.

row_options      how each row is explained
explained_rows   graphs of rows → a table of results
table_job        what is explained, by which explainer, into which folder; the work on one part of it
job_folder       the folder of results: which parts are there, and whose they are
process_pool     work in several processes, of which any may die
local            the engine of one machine; `rcexplainer.integrations.ray` has the one of a cluster
"""
