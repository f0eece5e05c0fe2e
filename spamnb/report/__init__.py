"""Tables, figures and pages for people.

evaluation                    evaluate's tables, which the terminal and the page show
page, charts                  evaluate's page, and its pictures
message_line                  a message as a line of a terminal
"""
