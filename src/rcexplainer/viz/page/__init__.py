"""A page to share: explanations in one HTML file that needs no network and no server.

explanations → depiction (where nodes are, what they are called)
             → curves    (with a fitted explainer: real predictions after every deletion)
             → reasons   (deleted substructures, grouped by what they are)
             → document  (plain values)
             → render    (one file, by Jinja2, with its style sheet and scripts inside)
"""
