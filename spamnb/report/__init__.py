"""Tables, figures and pages for people.

evaluation                    tables of an evaluation, for the terminal and the page
page, charts                  the page of an evaluation, and its charts
message_line                  a message as a line of a terminal
"""
