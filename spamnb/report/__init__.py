"""Tables, figures and pages for people.

training, evaluation, explanation, words  what train, evaluate, explain and words print
page                                      evaluate's page, filled from the files below
charts, svg                               its charts, and what they are drawn with
confusion, worst, provenance              its other parts
numbers                                   figures as a person reads them
"""
