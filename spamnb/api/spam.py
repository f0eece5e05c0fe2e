"""The command line's model as an estimator, which is fitted to lists of messages and can be saved as a model file."""

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
from spamnb.api.message_estimators import (
    Labels,
    MessageEstimator,
    check_labelled,
    class_name,
    parse_labels,
    raise_unreadable,
    set_parameters,
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

# Messages per additional thread, because the thread's copy of the model takes memory and time: 7,532 posts of
# 20 classes took 2.6 s of processor time and .72 GB with two threads, and 1.9 s and .45 GB with one. On a busy machine
# one thread finished first.
MESSAGES_A_THREAD = 20_000
MESSAGES_AT_ONCE = 100  # learned in one transaction, whose changes stay in memory until it ends
Messages = Iterable[str | bytes]


class MemoryModel:
    """A ``Classifier`` of a model in memory, which can be pickled. Hold ``lock`` while you use the classifier."""

    def __init__(self, store: Store) -> None:
        store.path = "SpamClassifier"  # error messages name this in place of a file
        self.classifier = Classifier(store)
        self.lock = RLock()
        finalize(self, store.close)

    def __getstate__(self) -> bytes:
        """Return the content of the model file."""
        with self.lock:
            return self.classifier.store.as_bytes()

    def __setstate__(self, content: bytes) -> None:
        """Open the model of a file's content."""
        self.__init__(Store.of_bytes(content))  # type: ignore[misc]

    def classifications(self, entries: list[Entry], workers: int) -> list[Classification]:
        """Return the classifications of the messages, in order; each further thread has a copy of the model."""
        workers = min(workers, 1 + len(entries) // MESSAGES_A_THREAD)
        with self.lock:
            content = self.__getstate__() if workers > 1 else b""
            parts = map_parts(
                entries, self._classify_part, lambda: MemoryModel(Store.of_bytes(content))._classify_part, workers
            )
            return [classification for part in parts for classification in part]

    def _classify_part(self, part: list[Entry]) -> list[Classification]:
        return self.classifier.classify_all((entry.read() for entry in part), tokens=0, posterior=False)


class SpamClassifier(ClassifierMixin, MessageEstimator):
    """The model that ``spamnb train`` makes, for lists of messages: naive Bayes, corrected and calibrated.

    **A class called "spam" needs a probability above 0.9.** ``predict`` says the class of least expected loss, and good
    mail called ``spam`` costs nine times as much as spam let through. With ``strictness="strict"``, or if no class is
    ``spam``, it says the likeliest class.

    **Mail is read differently from text.** ``mail`` says what the messages X are: True for raw mail, whose headers,
    links and parts count; False for texts without headers; "auto" for both: bytes are raw mail, and so is a str that
    begins with a mail's header (From among its fields).

    Parameters
    ----------
    spam : str, int or bool, default="spam"
        Class of spam.
    mail : bool or "auto", default="auto"
        Whether messages are raw mail or texts without headers.
    n_jobs : int, default=-1
        Number of threads that read and classify; -1 is one per core. The results do not depend on it.
    progress : bool, default=False
        Whether to show progress, in a terminal or a notebook.
    model_type, alpha, prior, pooling, embedding : str, float or None
        Model, as in ``Settings``.
    tokenizer, stem, ngrams, body_only, ignore_headers : str, int, bool, None or iterable of str
        How messages become tokens, as in ``TokenOptions``.
    strictness, unsure_cost : str, float or None
        Costs of errors, as in ``Loss``.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Classes, ascending: texts, whole numbers or truth values.
    model_ : MemoryModel
        The model file in memory.

    See Also
    --------
    MailVectorizer : Rows of tokens for other models.
    Classifier : A model file.

    Notes
    -----
    A wrong parameter raises an error that is a SpamnbError and a ValueError. ValueError is also raised if X and y do
    not fit together or a label cannot name a class, and TypeError for an X that holds no messages.

    Examples
    --------
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
        return self._make_settings(Settings, TokenOptions, Loss, spam=class_name(self.spam))

    def _labelled(self, X: Messages, y: ArrayLike, classes: Sequence[Any] = ()) -> tuple[Sequence[str | bytes], Labels]:
        return check_labelled(X, y, type(self).__name__, classes)

    # -- learning --------------------------------------------------------------------------------------------

    def fit(self, X: Messages, y: ArrayLike) -> Self:
        """Fit a new model to these messages; if a message has copies, only the last copy is learned.

        Parameters
        ----------
        X : iterable of str or bytes
            Messages.
        y : array of shape (n_messages,)
            Their classes.

        Returns
        -------
        Self
            The fitted model.

        Raises
        ------
        SpamnbError
            If a parameter is wrong, or no message is of the class ``spam``.
        """
        settings = self._settings()
        messages, labels = self._labelled(X, y)
        if settings.spam != Settings().spam:
            check_has_class(settings.spam, labels.names)
        counted = self._count(messages, settings.tokens, labels.of)
        with shown("Fitting", self.progress):
            self.model_ = MemoryModel(model_of(counted, settings))
        self._set_classes(labels.classes, trained=True)
        return self

    def _set_classes(self, classes: NDArray[Any], trained: bool = False) -> None:
        """Set ``classes_``, and write into the model what ``load`` needs to restore the labels."""
        self.classes_ = classes
        meta: dict[str, Any] = {"label_kind": classes.dtype.kind, "mail": self.mail}
        if trained:
            meta["trained_at"] = datetime.now().astimezone().isoformat(timespec="seconds")
            meta["pdf_read"] = is_available()
        store = self.model_.classifier.store
        if not meta.items() <= store.meta().items():  # a state with other settings is calibrated again: 2 ms
            store.put_meta(meta)

    def partial_fit(self, X: Messages, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn more messages, as ``spamnb learn`` does; a model that was not fitted starts empty.

        A message that the model has in the same class changes nothing. A message that the model has in another class is
        moved.

        Parameters
        ----------
        X : iterable of str or bytes
            Messages.
        y : array of shape (n_messages,)
            Their classes.
        classes : array of shape (n_classes,), default=None
            Classes that later calls will have; later calls may have other classes, too.

        Returns
        -------
        Self
            The updated model.
        """
        classes_before = [] if not hasattr(self, "classes_") else self.classes_.tolist()
        classes_before += [] if classes is None else np.atleast_1d(classes).tolist()
        messages, labels = self._labelled(X, y, classes_before)
        if not hasattr(self, "model_"):
            self.model_ = MemoryModel(Classifier.create(":memory:", self._settings()).store)
        with self.model_.lock:
            self._set_classes(labels.classes)
            classifier, raws = self.model_.classifier, self._raw(messages)
            for first in range(0, len(messages), MESSAGES_AT_ONCE):
                with classifier.store.writing():
                    for name, raw in zip(labels.of[first : first + MESSAGES_AT_ONCE], raws):
                        classifier.learn(name, raw)
        return self

    def forget(self, X: Messages, y: ArrayLike) -> Self:
        """Remove messages from their classes exactly, whatever was learned since.

        Parameters
        ----------
        X : iterable of str or bytes
            Messages.
        y : array of shape (n_messages,)
            Their classes.

        Returns
        -------
        Self
            The updated model.

        Raises
        ------
        ValueError
            If a message is not in its class. In this case no message is removed.
        """
        self._check_fitted()
        messages, labels = self._labelled(X, y)
        with self.model_.lock, self.model_.classifier.store.writing():
            for number, (name, raw) in enumerate(zip(labels.of, self._raw(messages))):
                if not self.model_.classifier.forget(name, raw):
                    raise ValueError(f"X[{number}] is no part of class {name!r}; nothing was forgotten")
        return self

    # -- predictions -----------------------------------------------------------------------------------------

    def _names(self) -> list[str]:
        return [class_name(label) for label in self.classes_.tolist()]

    def _classifications(self, X: Messages) -> list[Classification]:
        self._check_fitted()
        return self.model_.classifications(list(self._entries(X)), self._threads())

    def predict_proba(self, X: Messages) -> NDArray[np.float64]:
        """Return calibrated P(c|x): of the messages with probability .9 for a class, nine in ten are of this class.

        Parameters
        ----------
        X : iterable of str or bytes
            Messages.

        Returns
        -------
        array of shape (n_messages, n_classes)
            Probabilities, columns as in ``classes_``.
        """
        classifications, names = self._classifications(X), self._names()
        probabilities = np.zeros((len(classifications), len(names)))
        if classifications:
            columns = [names.index(name) for name in classifications[0].probabilities]
            probabilities[:, columns] = [list(each.probabilities.values()) for each in classifications]
        return probabilities

    def predict_log_proba(self, X: Messages) -> NDArray[np.float64]:
        """Return log P(c|x), calibrated; −∞ if a probability is 0.

        Parameters
        ----------
        X : iterable of str or bytes
            Messages.

        Returns
        -------
        array of shape (n_messages, n_classes)
            Log-probabilities in nats, columns as in ``classes_``.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def decision_function(self, X: Messages) -> NDArray[np.float64]:
        """Return the calibrated log-odds of each class; for two classes, only those of ``classes_[1]``.

        Parameters
        ----------
        X : iterable of str or bytes
            Messages.

        Returns
        -------
        array of shape (n_messages,) or (n_messages, n_classes)
            Log-odds in nats.
        """
        log_odds = margins(self.predict_log_proba(X))
        return log_odds[:, 1] if log_odds.shape[1] == 2 else log_odds

    def verdicts(self, X: Messages) -> list[str]:
        """Return the verdicts of ``spamnb classify``.

        Parameters
        ----------
        X : iterable of str or bytes
            Messages.

        Returns
        -------
        list of str
            Name of the class of least expected loss. It is "unsure" if that has the least expected loss, and in place
            of spam if the model has learned too few messages.
        """
        return [each.verdict for each in self._classifications(X)]

    def predict(self, X: Messages) -> NDArray[Any]:
        """Return the class of least expected loss of every message, which is never unsure.

        Parameters
        ----------
        X : iterable of str or bytes
            Messages.

        Returns
        -------
        array of shape (n_messages,)
            Classes.
        """
        p, settings = self.predict_proba(X), self.model_.classifier.settings
        if not len(self.classes_):
            raise not_fitted(self)
        if len(self.classes_) < 2:
            return self.classes_[np.zeros(len(p), np.intp)]
        names = self._names()
        verdicts = Loss(settings.loss.strictness).verdicts(names, p, settings.spam)
        return self.classes_[[names.index(name) for name in verdicts]]

    def explain(self, message: str | bytes, top: int = 20) -> Explanation:
        """Explain the classification of one message, as ``spamnb.explain`` does.

        Parameters
        ----------
        message : str or bytes
            Message.
        top : int, default=20
            Number of tokens to show.

        Returns
        -------
        Explanation
            Verdict, probabilities, and the tokens that weighed most.
        """
        self._check_fitted()
        check_least(1, top=top)
        (raw,) = self._raw([message])
        with self.model_.lock:
            return explanation_of(raw, self.model_.classifier, top)

    def words(self, top: int = 15, *, everything: bool = False, tell: Tell = warn) -> WordsReport:
        """Return the likeliest words of each class, and those that tell classes apart.

        Parameters
        ----------
        top : int, default=15
            Number of words of each list.
        everything : bool, default=False
            Whether to show all kinds of tokens, not only words of body and subject.
        tell : callable, default=warnings.warn
            Gets a line if no token is a word.

        Returns
        -------
        WordsReport
            The words, as ``spamnb.words`` returns them.
        """
        self._check_fitted()
        check_least(1, top=top)
        with self.model_.lock:
            return words_of(self.model_.classifier.store, top, everything, tell)

    def evaluate(self, X: Messages, y: ArrayLike) -> Evaluation:
        """Measure the model on messages that it has not learned, as ``spamnb.evaluate`` does with a ``model``.

        Parameters
        ----------
        X : iterable of str or bytes
            Messages.
        y : array of shape (n_messages,)
            Their classes.

        Returns
        -------
        Evaluation
            Figures with 95 % intervals, and all classifications.

        Raises
        ------
        SpamnbError
            If the model has already learned all these messages, or does not have a class in ``y``.
        """
        from spamnb.evaluation.figures import compute_figures
        from spamnb.evaluation.online import evaluate_model

        self._check_fitted()
        messages, labels = self._labelled(X, y)
        with self.model_.lock, shown("Classifying", self.progress) as show:
            classifier = self.model_.classifier
            result = evaluate_model(self._entries(messages, labels.of), classifier, raise_unreadable, show)
            command = "SpamClassifier.evaluate in Python"
            return Evaluation(compute_figures(result), result, classifier.settings, Path(":memory:"), command=command)

    # -- one at a time, as in river ----------------------------------------------------------------------------

    def learn_one(self, x: str | bytes, y: Any) -> None:
        """Learn one message, as ``partial_fit`` does.

        Parameters
        ----------
        x : str or bytes
            Message.
        y : str, int or bool
            Its class.
        """
        self.partial_fit([x], [y])

    def predict_proba_one(self, x: str | bytes) -> dict[Any, float]:
        """Return P(c|x) of one message.

        Parameters
        ----------
        x : str or bytes
            Message.

        Returns
        -------
        dict
            Probabilities by class; empty before the first message was learned.
        """
        if not hasattr(self, "classes_"):
            return {}
        return dict(zip(self.classes_.tolist(), self.predict_proba([x])[0].tolist()))

    def predict_one(self, x: str | bytes) -> Any:
        """Return the class of least expected loss of one message.

        Parameters
        ----------
        x : str or bytes
            Message.

        Returns
        -------
        str, int, bool or None
            The class; None before the first message was learned.
        """
        return self.predict([x])[0].item() if hasattr(self, "classes_") else None

    # -- model files -----------------------------------------------------------------------------------------

    def save(self, path: FilePath, *, force: bool = False) -> None:
        """Write a model file, which the commands use too.

        Parameters
        ----------
        path : str or path
            File to write.
        force : bool, default=False
            Whether to replace a model file.

        Raises
        ------
        SpamnbError
            If there is a model at ``path`` and ``force`` is False, or if there is a file that is no model.
        """
        self._check_fitted()
        memory = self.model_.classifier.store
        target = new_file(path, "path")
        with self.model_.lock, atomic_replace(target, memory.meta(), force=force) as store, memory.reading():
            memory.copy_to(store)
            store.drop_cache()

    @classmethod
    def load(cls, path: FilePath, *, n_jobs: int | None = -1) -> Self:
        """Return the model of a file, with the settings that it was made with.

        Parameters
        ----------
        path : str or path
            Model file, which is read once and not changed.
        n_jobs : int, default=-1
            Threads; -1 is one per core.

        Returns
        -------
        SpamClassifier
            The fitted model.

        Raises
        ------
        SpamnbError
            If there is no model at ``path``, or if this model is an addition to another model file.
        """
        with Store.open(file_path(path, "path")) as file, file.reading():
            if file.base is not None:
                raise SpamnbError(f"{path}: adds to another model; load that one, {file.base.path}")
            store = Store.connect(":memory:", writable=True)
            file.copy_to(store)
        model = MemoryModel(store)
        settings = model.classifier.settings
        classes = parse_labels([*store.totals().classes], store.meta().get("label_kind"))
        spam = parse_labels([settings.spam], classes.dtype.kind)[0]
        mail = store.meta().get("mail")
        others = {"spam": spam.item(), "mail": mail if isinstance(mail, bool) else "auto", "n_jobs": n_jobs}
        estimator = cls(**{**settings.by_name(), **others})
        estimator.classes_, estimator.model_ = classes, model
        return estimator
