"""The kinds of mail models. All of them use the same format of the model file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spamnb.learners.learner import Learner
    from spamnb.settings import Settings


def learner_for(settings: Settings) -> Learner:
    """Return the learner of these settings, and import its module."""
    from spamnb.settings import COUNT_MODELS

    if settings.model_type in COUNT_MODELS:
        from spamnb.learners.naive_bayes import NaiveBayes

        return NaiveBayes(settings)
    if settings.model_type == "corrected":
        from spamnb.learners.corrected import Corrected

        return Corrected(settings)
    from spamnb.learners.embedded_model import EmbeddedModel

    return EmbeddedModel(settings)
