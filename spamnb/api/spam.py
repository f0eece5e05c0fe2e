"""The command line's model as an estimator: fitted on lists of messages, calibrated, and a model file where wanted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from threading import RLock
from typing import Any, Self
from weakref import finalize

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spamnb.api.arguments import FilePath, Tell, check_least, file_path, new_file, warn
from spamnb.api.evaluate import Evaluation
from spamnb.api.explain import Explanation, explanation_of
from spamnb.api.given import (
    Labels,
    MessageEstimator,
    class_name,
    labelled,
    named_labels,
    set_parameters,
    tell_unreadable,
)
from spamnb.api.progress import progress as shown
from spamnb.api.words import WordsReport, words_of
from spamnb.class_names import check_has_class
from spamnb.classification import Classification
from spamnb.classifier import Classifier
from spamnb.engines.executor import map_parts
from spamnb.errors import SpamnbError
from spamnb.estimators.base import ClassifierMixin
from spamnb.estimators.validation import not_fitted
from spamnb.formulas.calibration import margins
from spamnb.formulas.decision import Loss
from spamnb.reader.options import TokenOptions
from spamnb.reader.pdf import is_available
from spamnb.settings import Settings
from spamnb.sources.entries import Entry
from spamnb.store.snapshot import atomic_replace
from spamnb.store.store import Store
from spamnb.training import model_of

# Messages for each more thread, whose copy of the model takes memory and time: 7,532 posts of 20 classes took 2.6 s of
# processor time and .72 GB with two, 1.9 s and .45 GB with one, which was sooner done on a busy machine.
MESSAGES_A_THREAD = 20_000
MESSAGES_AT_ONCE = 100  # in one change of the model: what it holds back until then takes memory
Messages = Iterable[str | bytes]


class MemoryModel:
    """A ``Classifier`` on a model in memory, which can be pickled; whoever uses it holds ``lock``."""

    def __init__(self, store: Store) -> None:
        store.path = "SpamClassifier"  # what an error names
        self.classifier = Classifier(store)
        self.lock = RLock()
        finalize(self, store.close)

    def __getstate__(self) -> bytes:
        with self.lock:
            return self.classifier.store.as_bytes()

    def __setstate__(self, content: bytes) -> None:
        self.__init__(Store.of_bytes(content))  # type: ignore[misc]

    def classifications(self, entries: list[Entry], workers: int) -> list[Classification]:
        """What it says of the messages, in their order. Of many messages each thread asks a copy of its own."""
        workers = min(workers, 1 + len(entries) // MESSAGES_A_THREAD)
        with self.lock:
            content = self.__getstate__() if workers > 1 else b""
            parts = map_parts(entries, self._judge, lambda: MemoryModel(Store.of_bytes(content))._judge, workers)
            return [classification for part in parts for classification in part]

    def _judge(self, part: list[Entry]) -> list[Classification]:
        return self.classifier.classify_all((entry.read() for entry in part), tokens=0, posterior=False)


class SpamClassifier(ClassifierMixin, MessageEstimator):
    """The model that ``spamnb train`` makes, as an estimator: naive Bayes on what spamnb reads in a message, pooled and
    calibrated, for any number of classes.

    **A class called "spam" needs a probability above 0.9.** ``predict`` says the class of least expected loss, and good
    mail called ``spam`` costs nine times as much as spam let through. With ``strictness="strict"``, or if no class is
    ``spam``, it says the likeliest class.

    **Mail is read otherwise than text.** ``mail`` says what the messages X are: True for raw mail, whose headers,
    links and parts count; False for texts without headers; "auto" for both: bytes are raw mail, and so is a str that
    begins with a mail's header (From among its fields).

    y has the class of each message: texts, whole numbers or truth values. The other parameters are the settings of a
    model, those of ``Settings``, ``TokenOptions`` and ``Loss``. ``n_jobs`` threads (-1: one per core) share many
    messages; the answers do not depend on it. ``progress`` shows how far the work is, in a terminal or a notebook.

    Raises SpamnbError, which is a ValueError here, for a wrong parameter; ValueError if X and y do not fit together or
    a label cannot name a class, and TypeError for an X that holds no messages.

    >>> texts = [f"{what} {n}" for n in range(20) for what in ("cheap pills", "lunch at")]
    >>> model = SpamClassifier().fit(texts, ["spam", "ham"] * 20)
    >>> model.predict(["lunch at noon", "cheap pills"])
    array(['ham', 'spam'], dtype='<U4')
    >>> model.predict_proba(["lunch at noon", "cheap pills"]).round(2)
    array([[0.97, 0.03],
           [0.03, 0.97]])
    >>> model.score(texts, ["spam", "ham"] * 20), model.verdicts(["lunch at noon"])
    (1.0, ['ham'])
    >>> model.decision_function(["lunch at noon"]) < 0
    array([ True])
    >>> model.explain("lunch at noon").classification.evidence[0].token, model.words(top=1).likeliest["ham"][0].token
    ('lunch at', 'at')
    >>> model.evaluate(["lunch at two", "cheap pills"], ["ham", "spam"]).figures.accuracy.value
    100.0
    >>> model.partial_fit(["tea at four"], ["ham"]).forget(["tea at four"], ["ham"]).save("lunch.spamnb")
    >>> SpamClassifier.load("lunch.spamnb").predict(["cheap pills"]).tolist()
    ['spam']
    >>> model.learn_one("cheap watches", "spam")
    >>> model.predict_one("cheap pills"), round(model.predict_proba_one("cheap pills")["spam"], 2)
    ('spam', 0.97)
    >>> model.predict_log_proba(["cheap pills"]).round(2)
    array([[-3.64, -0.03]])
    """

    spam: Any
    classes_: NDArray[Any]  # (C,) sorted
    model_: MemoryModel

    def __init__(
        self,
        *,
        spam: Any = "spam",
        mail: bool | str = "auto",
        n_jobs: int | None = -1,
        progress: bool = False,
        model_type: str | None = None,
        alpha: float = 0.1,
        prior: str = "mle",
        pooling: str = "mean",
        embedding: str | None = None,
        tokenizer: str = "own",
        stem: str | None = None,
        ngrams: int = 2,
        body_only: bool = False,
        ignore_headers: Iterable[str] = ("newsgroups", "xref", "path"),
        strictness: str = "normal",
        unsure_cost: float | None = None,
    ) -> None:
        set_parameters(self, locals())

    def _settings(self) -> Settings:
        return self._chosen(Settings, TokenOptions, Loss, spam=class_name(self.spam))

    def _given(self, X: Messages, y: ArrayLike, known: Sequence[Any] = ()) -> tuple[Sequence[str | bytes], Labels]:
        return labelled(X, y, type(self).__name__, known)

    # -- learning --------------------------------------------------------------------------------------------

    def fit(self, X: Messages, y: ArrayLike) -> Self:
        """Make a new model of the n messages X with the classes y (n,). Of copies of a message the last one counts."""
        settings = self._settings()
        given, labels = self._given(X, y)
        if settings.spam != Settings().spam:
            check_has_class(settings.spam, labels.names)
        counted = self._count(given, settings.tokens, labels.of)
        with shown("Fitting", self.progress):
            self.model_ = MemoryModel(model_of(counted, settings))
        self._remember(labels.classes, trained=True)
        return self

    def _remember(self, classes: NDArray[Any], trained: bool = False) -> None:
        self.classes_ = classes
        facts: dict[str, Any] = {"label_kind": classes.dtype.kind, "mail": self.mail}
        if trained:
            facts["trained_at"] = datetime.now().astimezone().isoformat(timespec="seconds")
            facts["pdf_read"] = is_available()
        self.model_.classifier.store.put_meta(facts)

    def partial_fit(self, X: Messages, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn n more messages, as ``spamnb learn`` does; a model that was not fitted starts empty. New classes may
        turn up at any time, or be named before as ``classes``. A message that its class holds already changes nothing;
        one that another class holds moves."""
        known = [] if not hasattr(self, "classes_") else self.classes_.tolist()
        known += [] if classes is None else np.atleast_1d(classes).tolist()
        given, labels = self._given(X, y, known)
        if not hasattr(self, "model_"):
            self.model_ = MemoryModel(Classifier.create(":memory:", self._settings()).store)
        with self.model_.lock:
            self._remember(labels.classes)
            classifier, raws = self.model_.classifier, self._raw(given)
            for first in range(0, len(given), MESSAGES_AT_ONCE):
                with classifier.store.writing():
                    for name, raw in zip(labels.of[first : first + MESSAGES_AT_ONCE], raws):
                        classifier.learn(name, raw)
        return self

    def forget(self, X: Messages, y: ArrayLike) -> Self:
        """Take messages out of their classes again, exactly. ValueError, and nothing changes, if one is no part of its
        class."""
        self._check_fitted()
        given, labels = self._given(X, y)
        with self.model_.lock, self.model_.classifier.store.writing():
            for number, (name, raw) in enumerate(zip(labels.of, self._raw(given))):
                if not self.model_.classifier.forget(name, raw):
                    raise ValueError(f"X[{number}] is no part of class {name!r}; nothing was forgotten")
        return self

    # -- asking ----------------------------------------------------------------------------------------------

    def _names(self) -> list[str]:
        return [class_name(label) for label in self.classes_.tolist()]

    def _classifications(self, X: Messages) -> list[Classification]:
        self._check_fitted()
        return self.model_.classifications(list(self._entries(X)), self._threads())

    def predict_proba(self, X: Messages) -> NDArray[np.float64]:
        """P(c|x), calibrated: of messages given .9 for a class nine in ten are of it. (n, C), columns as in
        ``classes_``."""
        classifications, names = self._classifications(X), self._names()
        probabilities = np.zeros((len(classifications), len(names)))
        if classifications:
            columns = [names.index(name) for name in classifications[0].probabilities]
            probabilities[:, columns] = [list(each.probabilities.values()) for each in classifications]
        return probabilities

    def predict_log_proba(self, X: Messages) -> NDArray[np.float64]:
        """log P(c|x), calibrated, in nats; −∞ where a probability is 0. (n, C), columns as in ``classes_``."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def decision_function(self, X: Messages) -> NDArray[np.float64]:
        """Log-odds of each class in ``predict_proba``, in nats: (n, C), and (n,) of the second of two classes."""
        log_odds = margins(self.predict_log_proba(X))
        return log_odds[:, 1] if log_odds.shape[1] == 2 else log_odds

    def verdicts(self, X: Messages) -> list[str]:
        """What ``spamnb classify`` says: the name of a class, or "unsure" if that costs least, and in place of spam if
        the model has seen too few messages."""
        return [each.verdict for each in self._classifications(X)]

    def predict(self, X: Messages) -> NDArray[Any]:
        """The class of least expected loss of every message, (n,): that of ``verdicts``, but never unsure."""
        p, settings = self.predict_proba(X), self.model_.classifier.settings
        if not len(self.classes_):
            raise not_fitted(self)
        if len(self.classes_) < 2:
            return self.classes_[np.zeros(len(p), np.intp)]
        names = self._names()
        said = Loss(settings.loss.strictness).verdicts(names, p, settings.spam)
        return self.classes_[[names.index(name) for name in said]]

    def explain(self, message: str | bytes, top: int = 20) -> Explanation:
        """Verdict, probabilities and the ``top`` tokens that weighed most for one message, as ``spamnb.explain`` hands
        them back."""
        self._check_fitted()
        check_least(1, top=top)
        (raw,) = self._raw([message])
        with self.model_.lock:
            return explanation_of(raw, self.model_.classifier, top)

    def words(self, top: int = 15, *, everything: bool = False, tell: Tell = warn) -> WordsReport:
        """The ``top`` likeliest words of each class and those that tell classes apart, as ``spamnb.words`` hands them
        back; with ``everything`` all kinds of tokens."""
        self._check_fitted()
        check_least(1, top=top)
        with self.model_.lock:
            return words_of(self.model_.classifier.store, top, everything, tell)

    def evaluate(self, X: Messages, y: ArrayLike) -> Evaluation:
        """Measure the model on messages that it has not learned, as ``spamnb.evaluate`` does with a ``model``.
        SpamnbError if it has learned all of them, or lacks a class of ``y``."""
        from spamnb.evaluation.figures import compute_figures
        from spamnb.evaluation.online import evaluate_model

        self._check_fitted()
        given, labels = self._given(X, y)
        with self.model_.lock, shown("Classifying", self.progress) as show:
            own = self.model_.classifier
            result = evaluate_model(self._entries(given, labels.of), own, tell_unreadable, show)
            command = "SpamClassifier.evaluate in Python"
            return Evaluation(compute_figures(result), result, own.settings, Path(":memory:"), command=command)

    # -- one at a time, as in river ----------------------------------------------------------------------------

    def learn_one(self, x: str | bytes, y: Any) -> None:
        """Learn one message of the class y, as ``partial_fit`` does."""
        self.partial_fit([x], [y])

    def predict_proba_one(self, x: str | bytes) -> dict[Any, float]:
        """P(c|x) by class; none before the first message was learned."""
        if not hasattr(self, "classes_"):
            return {}
        return dict(zip(self.classes_.tolist(), self.predict_proba([x])[0].tolist()))

    def predict_one(self, x: str | bytes) -> Any:
        """The class of least expected loss; None before the first message was learned."""
        return self.predict([x])[0].item() if hasattr(self, "classes_") else None

    # -- model files -----------------------------------------------------------------------------------------

    def save(self, path: FilePath, *, force: bool = False) -> None:
        """Write the model file ``path``, which the commands use too. SpamnbError if there is a model already and
        ``force`` is not given, or if the file is no model."""
        self._check_fitted()
        own = self.model_.classifier.store
        target = new_file(path, "path")
        with self.model_.lock, atomic_replace(target, own.meta(), force=force) as store, own.reading():
            own.copy_to(store)
            store.drop_cache()

    @classmethod
    def load(cls, path: FilePath, *, n_jobs: int | None = -1) -> Self:
        """The model of a file, with the settings that it was made with. The file is only read, once. Raises SpamnbError
        if there is no model."""
        with Store.open(file_path(path, "path")) as file, file.reading():
            if file.base is not None:
                raise SpamnbError(f"{path}: adds to another model; load that one, {file.base.path}")
            store = Store.connect(":memory:", writable=True)
            file.copy_to(store)
        model = MemoryModel(store)
        settings = model.classifier.settings
        classes = named_labels([*store.totals().classes], store.meta().get("label_kind"))
        spam = named_labels([settings.spam], classes.dtype.kind)[0]
        mail = store.meta().get("mail")
        own = {"spam": spam.item(), "mail": mail if isinstance(mail, bool) else "auto", "n_jobs": n_jobs}
        estimator = cls(**{**settings.by_name(), **own})
        estimator.classes_, estimator.model_ = classes, model
        return estimator

    def _input_tags(self) -> dict[str, bool]:
        return {"string": True, "two_d_array": False}
