"""Tables, charts and pages.

table          tables for terminals and notebooks
evaluation     the tables of an evaluation
page, charts   the HTML page of an evaluation, and its charts
displays       charts of words by matplotlib
message_line   a message as a line of a terminal
"""
