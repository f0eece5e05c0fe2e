"""spamnb: naive Bayes for mail and text.

A model is a file of token counts per class. `train` makes a model from labelled mail, and `Classifier` uses it.
`SpamClassifier` and the estimators have the interface of scikit-learn. Names are imported when they are first used:

>>> import spamnb
>>> spamnb.MultinomialNB(alpha=1)
MultinomialNB(alpha=1)
"""

from __future__ import annotations

# Importing typing takes 5 ms, in which Ctrl-C would print a traceback, because main() does not run yet.
TYPE_CHECKING = False
if TYPE_CHECKING:  # type checkers do not see the names that __getattr__ imports
    from spamnb.api.evaluate import Evaluation as Evaluation
    from spamnb.api.evaluate import evaluate as evaluate
    from spamnb.api.explain import Explanation as Explanation
    from spamnb.api.explain import explain as explain
    from spamnb.api.read import LabelledMessage as LabelledMessage
    from spamnb.api.read import read as read
    from spamnb.api.spam import SpamClassifier as SpamClassifier
    from spamnb.api.train import TrainingReport as TrainingReport
    from spamnb.api.train import train as train
    from spamnb.api.vectorizer import MailVectorizer as MailVectorizer
    from spamnb.api.words import WordsReport as WordsReport
    from spamnb.api.words import words as words
    from spamnb.errors import SpamnbError as SpamnbError
    from spamnb.errors import SpamnbWarning as SpamnbWarning
    from spamnb.estimators.concept import ConceptLearner as ConceptLearner
    from spamnb.estimators.concept import Hypothesis as Hypothesis
    from spamnb.estimators.concept import number_game as number_game
    from spamnb.estimators.dirichlet import Dirichlet as Dirichlet
    from spamnb.estimators.discrete import BernoulliNB as BernoulliNB
    from spamnb.estimators.discrete import CategoricalNB as CategoricalNB
    from spamnb.estimators.discrete import ComplementNB as ComplementNB
    from spamnb.estimators.discrete import MultinomialNB as MultinomialNB
    from spamnb.estimators.discrete import mutual_information as mutual_information
    from spamnb.estimators.gaussian import GaussianNB as GaussianNB
    from spamnb.estimators.gaussian import LinearDiscriminantAnalysis as LinearDiscriminantAnalysis
    from spamnb.estimators.gaussian import QuadraticDiscriminantAnalysis as QuadraticDiscriminantAnalysis
    from spamnb.estimators.logistic import LogisticRegression as LogisticRegression
    from spamnb.filter import Classifier as Classifier
    from spamnb.model.classification import Classification as Classification
    from spamnb.reader.message import parse as parse
    from spamnb.report.displays import ExplanationDisplay as ExplanationDisplay
    from spamnb.report.displays import WordsDisplay as WordsDisplay
    from spamnb.settings import Settings as Settings

__version__ = "1.0.0"

_MODULES = {
    "api.train": ("train", "TrainingReport"),
    "api.evaluate": ("evaluate", "Evaluation"),
    "api.words": ("words", "WordsReport"),
    "api.explain": ("explain", "Explanation"),
    "api.read": ("read", "LabelledMessage"),
    "filter": ("Classifier",),
    "model.classification": ("Classification",),
    "settings": ("Settings",),
    "errors": ("SpamnbError", "SpamnbWarning"),
    "reader.message": ("parse",),
    "estimators.discrete": ("MultinomialNB", "ComplementNB", "BernoulliNB", "CategoricalNB", "mutual_information"),
    "estimators.dirichlet": ("Dirichlet",),
    "estimators.gaussian": ("GaussianNB", "LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"),
    "report.displays": ("ExplanationDisplay", "WordsDisplay"),
    "estimators.logistic": ("LogisticRegression",),
    "estimators.concept": ("ConceptLearner", "Hypothesis", "number_game"),
    "api.vectorizer": ("MailVectorizer",),
    "api.spam": ("SpamClassifier",),
}
_PUBLIC = {name: module for module, names in _MODULES.items() for name in names}
__all__ = ["__version__"]
__all__ += list(_PUBLIC)


if not TYPE_CHECKING:  # with a __getattr__, type checkers would accept any name

    def __getattr__(name: str) -> object:
        if name not in _PUBLIC:
            import sys

            message = f"module 'spamnb' has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=sys.modules["spamnb"])  # Python suggests a similar name
        import importlib

        return getattr(importlib.import_module(f"spamnb.{_PUBLIC[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
