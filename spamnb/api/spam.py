"""``SpamClassifier``: the command line's model as an estimator, which is fitted to lists of messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from threading import RLock
from typing import Any, Self
from weakref import finalize

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spamnb.api.arguments import FilePath, Tell, check_least, file_path, new_file, warn
from spamnb.api.evaluate import Evaluation
from spamnb.api.explain import Explanation, explain_message
from spamnb.api.message_estimators import (
    Labels,
    MessageEstimator,
    check_labelled,
    class_name,
    parse_labels,
    raise_unreadable,
    set_parameters,
)
from spamnb.api.progress import show_progress
from spamnb.api.words import WordsReport, words_of
from spamnb.class_names import check_has_class
from spamnb.engines.executor import map_parts
from spamnb.errors import SpamnbError
from spamnb.estimators.base import BaseClassifier, check_fitted
from spamnb.filter import Classifier
from spamnb.model.calibration import margins
from spamnb.model.classification import Classification
from spamnb.model.decision import Loss
from spamnb.reader.pdf import is_available
from spamnb.settings import MODEL_SETTINGS, Settings
from spamnb.sources.entries import Entry
from spamnb.store.snapshot import atomic_replace
from spamnb.store.store import Store
from spamnb.training import model_of

# Messages per additional thread, because each thread copies the model. To classify 7,532 posts of 20 classes took
# 2.6 s of processor time and .72 GB with two threads, and 1.9 s and .45 GB with one.
MESSAGES_A_THREAD = 20_000
# Messages per transaction of ``partial_fit``. 2,000 messages of SpamAssassin took 17 s and 48 MB with one message per
# transaction, 10 s and 62 MB with 100, and 11 s and 119 MB in a single transaction.
MESSAGES_AT_ONCE = 100
Messages = Iterable[str | bytes]


class MemoryModel:
    """A ``Classifier`` of a model in memory, which can be pickled. Hold ``lock`` while you use the classifier."""

    def __init__(self, store: Store) -> None:
        store.path = "SpamClassifier"  # the name in error messages
        self.classifier = Classifier(store)
        self.lock = RLock()
        finalize(self, store.close)

    def __getstate__(self) -> bytes:
        """Return the model as the bytes of a model file."""
        with self.lock:
            return self.classifier.store.as_bytes()

    def __setstate__(self, content: bytes) -> None:
        """Open the model in the bytes of a model file."""
        self.__init__(Store.of_bytes(content))  # type: ignore[misc]

    def classify(self, entries: list[Entry], workers: int) -> list[Classification]:
        """Classify messages. Every thread except the first has a copy of the model."""
        workers = min(workers, 1 + len(entries) // MESSAGES_A_THREAD)
        with self.lock:
            content = self.__getstate__() if workers > 1 else b""
            parts = map_parts(
                entries, self._classify_part, lambda: MemoryModel(Store.of_bytes(content))._classify_part, workers
            )
            return [classification for part in parts for classification in part]

    def _classify_part(self, part: list[Entry]) -> list[Classification]:
        return self.classifier.classify_all((entry.read() for entry in part), n_evidence=0, uncalibrated=False)


class SpamClassifier(BaseClassifier, MessageEstimator):
    """The model of 'spamnb train' for lists of messages: naive Bayes, corrected and calibrated.

    **The class of spam needs a probability above 0.9.** ``predict`` returns the class of least expected loss, and good
    mail that is called spam costs nine times as much as spam that is let through. With ``strictness="strict"``, where
    both errors cost the same, or if no class is ``spam``, it returns the likeliest. Only ``verdicts`` can be "unsure".

    **Raw mail and texts are read differently.** Raw mail has headers, links and parts, which count as evidence. With
    ``mail="auto"`` bytes are raw mail. A str is raw mail if it begins with header fields, one of them From, and
    otherwise a text.

    Parameters
    ----------
    spam : str, int or bool, default="spam"
        Class of spam.
    mail : bool or "auto", default="auto"
        Whether all messages are raw mail (True), all are texts without headers (False), or both occur ("auto").
    n_jobs : int, default=-1
        Number of threads. -1 is one per core. The results do not depend on it.
    progress : bool, default=False
        Whether to show progress, in a terminal or a notebook.
    model_type, alpha, pooling, embedding : str, float or None
        Type and parameters of the model, as in ``Settings``.
    tokenizer, stem, ngrams, body_only, ignore_headers : str, int, bool, None or iterable of str
        How messages become tokens, as in ``Settings``.
    strictness, unsure_cost : str, float or None
        Costs of errors, as in ``Settings``.
    loss : array of shape (n_classes, n_classes), dict or "balanced", default=None
        What ``predict`` minimises in place of ``strictness``, as in ``decide``. With "balanced" an error on a class
        costs 1/N_c of its messages, so that rare classes are found. A model file does not contain it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Classes, ascending: texts, whole numbers or truth values.
    model_ : MemoryModel
        The model file in memory.

    See Also
    --------
    MailVectorizer : Rows of token counts for other models.
    Classifier : The model in a model file.

    Notes
    -----
    Probabilities are calibrated: of many messages with the probability 0.9 for a class, nine in ten are of this class.

    A wrong parameter raises an error that is both a SpamnbError and a ValueError. TypeError is raised for an X that is
    not a list of messages, and ValueError if X and y have different lengths or if a label cannot be the name of a
    class.

    Examples
    --------
    >>> texts = [f"{words} {n}" for n in range(20) for words in ("cheap pills", "lunch at")]
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
    array([[-3.67, -0.03]])
    """

    spam: Any
    loss: Any
    classes_: NDArray[Any]  # (C,) sorted
    model_: MemoryModel

    def __init__(
        self,
        *,
        spam: Any = Settings.spam,
        mail: bool | str = "auto",
        n_jobs: int | None = -1,
        progress: bool = False,
        model_type: str | None = None,
        alpha: float = Settings.alpha,
        pooling: str = Settings.pooling,
        embedding: str | None = Settings.embedding,
        tokenizer: str = Settings.tokenizer,
        stem: str | None = Settings.stem,
        ngrams: int = Settings.ngrams,
        body_only: bool = Settings.body_only,
        ignore_headers: Iterable[str] = Settings.ignore_headers,
        strictness: str = Settings.strictness,
        unsure_cost: float | None = Settings.unsure_cost,
        loss: Any = None,
    ) -> None:
        set_parameters(self, locals())

    def _settings(self) -> Settings:
        return self._make_settings(MODEL_SETTINGS, spam=class_name(self.spam))

    def _labelled(self, X: Messages, y: ArrayLike, classes: Sequence[Any] = ()) -> tuple[Sequence[str | bytes], Labels]:
        return check_labelled(X, y, type(self).__name__, classes)

    # -- learning --------------------------------------------------------------------------------------------

    def fit(self, X: Messages, y: ArrayLike) -> Self:
        """Fit a new model to messages. If a message has copies, only the last copy is learned.

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
            If a parameter is wrong, or if ``spam`` was changed and no message is of this class.
        """
        settings = self._settings()
        messages, labels = self._labelled(X, y)
        if settings.spam != Settings().spam:
            check_has_class(settings.spam, labels.class_names)
        training_set = self._count(messages, settings, labels.message_classes)
        with show_progress("Fitting", self.progress):
            self.model_ = MemoryModel(model_of(training_set, settings))
        self._set_classes(labels.classes, is_training=True)
        return self

    def _set_classes(self, classes: NDArray[Any], is_training: bool = False) -> None:
        """Set ``classes_``, and write the values that ``load`` needs into the model."""
        self.classes_ = classes
        meta: dict[str, Any] = {"label_kind": classes.dtype.kind, "mail": self.mail}
        if is_training:
            meta["trained_at"] = datetime.now().astimezone().isoformat(timespec="seconds")
            meta["pdf_read"] = is_available()
        store = self.model_.classifier.store
        if not meta.items() <= store.model.meta.items():  # put_meta drops the curves: 2 ms
            store.put_meta(meta)

    def partial_fit(self, X: Messages, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn more messages, as 'spamnb learn' does. The first call need not follow a ``fit``.

        A message that the model has already learned in this class changes nothing. A message that the model has learned
        in another class is moved.

        Parameters
        ----------
        X : iterable of str or bytes
            Messages.
        y : array of shape (n_messages,)
            Their classes.
        classes : array of shape (n_classes,), default=None
            Further classes. Later calls may have other classes, too.

        Returns
        -------
        Self
            The updated model.
        """
        previous_classes = [] if not hasattr(self, "classes_") else self.classes_.tolist()
        previous_classes += [] if classes is None else np.atleast_1d(classes).tolist()
        messages, labels = self._labelled(X, y, previous_classes)
        if not hasattr(self, "model_"):
            self.model_ = MemoryModel(Classifier.create(":memory:", self._settings()).store)
        with self.model_.lock:
            self._set_classes(labels.classes)
            classifier, raws = self.model_.classifier, self._raw(messages)
            for first in range(0, len(messages), MESSAGES_AT_ONCE):
                names = labels.message_classes[first : first + MESSAGES_AT_ONCE]
                classifier.learn_all(names, list(islice(raws, len(names))))
        return self

    def forget(self, X: Messages, y: ArrayLike) -> Self:
        """Forget messages exactly, whatever was learned after them.

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
            If a message was not learned in its class. Then no message is forgotten.
        """
        check_fitted(self)
        messages, labels = self._labelled(X, y)
        with self.model_.lock, self.model_.classifier.store.writing():
            for number, (name, raw) in enumerate(zip(labels.message_classes, self._raw(messages))):
                if not self.model_.classifier.forget(name, raw):
                    raise ValueError(f"X[{number}] was not learned in class {name!r}; nothing was forgotten")
        return self

    # -- predictions -----------------------------------------------------------------------------------------

    def _get_class_counts(self) -> NDArray[np.float64]:
        with self.model_.lock:
            counts = self.model_.classifier.model.totals.messages
        return np.array([counts.get(name, 0.0) for name in self._class_names()], float)

    def _class_names(self) -> list[str]:
        return [class_name(label) for label in self.classes_.tolist()]

    def _classify(self, X: Messages) -> list[Classification]:
        check_fitted(self)
        return self.model_.classify(list(self._entries(X)), self._threads())

    def predict_proba(self, X: Messages) -> NDArray[np.float64]:
        classifications, names = self._classify(X), self._class_names()
        probabilities = np.zeros((len(classifications), len(names)))
        if classifications:
            columns = [names.index(name) for name in classifications[0].probabilities]
            probabilities[:, columns] = [[*result.probabilities.values()] for result in classifications]
        return probabilities

    def predict_log_proba(self, X: Messages) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def decision_function(self, X: Messages) -> NDArray[np.float64]:
        """Return the log-odds of each class. For two classes, return only the log-odds of ``classes_[1]``.

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
        """Return the verdicts of 'spamnb classify'.

        Parameters
        ----------
        X : iterable of str or bytes
            Messages.

        Returns
        -------
        list of str
            The name of a class, or "unsure". A verdict is "unsure" if this has the least expected loss, or if it would
            be spam and the model has learned too few messages.
        """
        return [classification.verdict for classification in self._classify(X)]

    def predict(self, X: Messages) -> NDArray[Any]:
        p, settings = self.predict_proba(X), self.model_.classifier.settings
        if len(self.classes_) < 2:
            return self.classes_[np.zeros(len(p), np.intp)]
        if self.loss is not None:
            return self._decide_class(p, self.loss)
        names = self._class_names()
        verdicts = Loss(settings.strictness, None).verdicts(names, p, settings.spam)
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
            Verdict, probabilities, and the tokens with the largest weights.
        """
        check_fitted(self)
        check_least(1, top=top)
        (raw,) = self._raw([message])
        with self.model_.lock:
            return explain_message(raw, self.model_.classifier, top)

    def words(self, top: int = 15, *, everything: bool = False, tell: Tell = warn) -> WordsReport:
        """Return the likeliest words of each class, and the words that separate the classes best.

        Parameters
        ----------
        top, everything, tell : int, bool, callable
            As in ``spamnb.words``.

        Returns
        -------
        WordsReport
            The words.
        """
        check_fitted(self)
        check_least(1, top=top)
        with self.model_.lock:
            return words_of(self.model_.classifier.store, top, everything, tell)

    def evaluate(self, X: Messages, y: ArrayLike) -> Evaluation:
        """Evaluate the model on those messages that it has not learned, as ``spamnb.evaluate`` does with a ``model``.

        Parameters
        ----------
        X : iterable of str or bytes
            Messages.
        y : array of shape (n_messages,)
            Their classes.

        Returns
        -------
        Evaluation
            Figures with 95 % intervals, and the classifications.

        Raises
        ------
        SpamnbError
            If the model has learned all these messages, or if it does not have a class in ``y``.
        """
        from spamnb.evaluation.figures import compute_figures
        from spamnb.evaluation.online import evaluate_model

        check_fitted(self)
        messages, labels = self._labelled(X, y)
        with self.model_.lock, show_progress("Classifying", self.progress) as show:
            classifier = self.model_.classifier
            entries = self._entries(messages, labels.message_classes)
            result = evaluate_model(entries, classifier, raise_unreadable, show)
            command = "SpamClassifier.evaluate in Python"
            return Evaluation(compute_figures(result), result, classifier.settings, Path(":memory:"), command=command)

    # -- single messages, as in river --------------------------------------------------------------------------

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
        """Write a model file, which the commands can use.

        Parameters
        ----------
        path : str or path
            File to write.
        force : bool, default=False
            Whether to replace a model file.

        Raises
        ------
        SpamnbError
            If there is a file at ``path`` that is not a model, or a model and ``force`` is False.
        """
        check_fitted(self)
        memory = self.model_.classifier.store
        target = new_file(path, "path")
        with self.model_.lock, atomic_replace(target, memory.model.meta, force=force) as store, memory.reading():
            memory.copy_to(store)
            store.drop_cache()

    @classmethod
    def load(cls, path: FilePath, *, n_jobs: int | None = -1) -> Self:
        """Return the model in a file, with its settings as parameters.

        Parameters
        ----------
        path : str or path
            Model file, which is read once and not changed.
        n_jobs : int, default=-1
            Number of threads. -1 is one per core.

        Returns
        -------
        SpamClassifier
            The fitted model.

        Raises
        ------
        SpamnbError
            If there is no model at ``path``, or if the model adds to a shared model.
        """
        with Store.open(file_path(path, "path")) as file, file.reading():
            if file.shared is not None:
                raise SpamnbError(f"{path}: adds to another model; load that model instead: {file.shared.path}")
            store = Store.connect(":memory:", writable=True)
            file.copy_to(store)
        model = MemoryModel(store)
        settings = model.classifier.settings
        classes = parse_labels([*store.model.totals.classes], store.model.meta.get("label_kind"))
        spam = parse_labels([settings.spam], classes.dtype.kind)[0]
        mail = store.model.meta.get("mail")
        parameters = {"spam": spam.item(), "mail": mail if isinstance(mail, bool) else "auto", "n_jobs": n_jobs}
        estimator = cls(**{**{name: getattr(settings, name) for name in MODEL_SETTINGS}, **parameters})
        estimator.classes_, estimator.model_ = classes, model
        return estimator
