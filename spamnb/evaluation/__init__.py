"""The measuring instrument: protocols that ask a filter, and the figures that sum up its answers.

    protocols, online → result → roc, metrics, probability, rates, bootstrap → figures → report
    who learns what     one row    numpy functions of (truth, scores,            one     table,
    before it answers   a message  verdicts), no mail, no model                  record  page

Whatever filter gave the answers, the same functions judge them.
"""
