"""What naive Bayes and the corrected model lose to spammers: the disguises of tests/e2e/test_attacks.py, and an
attacker who knows the model.

As there: trained on 1,000 messages of the SpamAssassin corpus, 1-ROCA% of 100 disguised spams against 1,000 other good
messages, which is how many of 100 pairs have the good one at the higher score.

The attacker has the model's file. To each spam he adds 10, 50 or 200 words: greedily those that by the model's own
scores move a message that is this spam and the word alone the furthest towards good mail. The model is not taught about
it, as it would be by the first such message that a person moves to Junk: "taught 1 and 10" is what is left after a
lesson of so many others of these messages.

    SPAMNB_CORPORA=… python scripts/experiment_attacks.py
"""

from __future__ import annotations

import hashlib
import importlib
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from mail_corpora import corpora_folder, sources

from spamnb.classifier import Classifier
from spamnb.counts.training_set import count_messages
from spamnb.reader.message import Reader, parse
from spamnb.settings import Settings
from spamnb.sources.entries import messages
from spamnb.sources.spec import entries
from spamnb.training import train

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "tests" / "e2e")]
attacks = importlib.import_module("test_attacks")

LEARNED, HAM, SPAM = 1000, 1000, 100
MODELS = ("boolean", "corrected")
BUDGETS = (10, 50, 200)
CANDIDATES = 400  # words that the attacker tries, those of most good messages beyond their share of spam
LESSONS = (1, 10)


def told(name: str, error: Exception) -> None:
    """Say what could not be read."""
    print(f"{name}: {error}", file=sys.stderr)


def margins(classifier: Classifier, raws: Sequence[bytes]) -> np.ndarray:
    """Score of spam less that of ham, (n,)."""
    spam = classifier.store.totals().classes.index("spam")
    scores = np.array([judgement.scores for judgement in classifier.classify_all(raws, tokens=0, posterior=False)])
    return scores[:, spam] - scores[:, 1 - spam]


def misplaced(of_ham: np.ndarray, of_spam: np.ndarray) -> float:
    """1-ROCA%; ``of_ham`` is ascending."""
    below = np.searchsorted(of_ham, of_spam, "left") + np.searchsorted(of_ham, of_spam, "right")
    return 100 - 50 * float(below.mean()) / len(of_ham)


def good_words(ham: Sequence[str], spam: Sequence[str]) -> list[str]:
    """Words of letters, those first that the most good messages hold beyond the share of spam that does."""
    held: dict[str, list[int]] = {}
    for column, texts in enumerate((ham, spam)):
        for text in texts:
            for word in {word for word in text.split() if word.isalpha() and 2 < len(word) < 16}:
                held.setdefault(word.lower(), [0, 0])[column] += 1
    share = len(ham) / max(len(spam), 1)
    return sorted(held, key=lambda word: (share * held[word][1] - held[word][0], word))[:CANDIDATES]


def greedy(classifier: Classifier, raw: bytes, words: Sequence[str]) -> list[str]:
    """The words, the most harmful first, each tried by itself: tokens' weights nearly add up."""
    text = attacks.visible(raw)
    found = margins(classifier, [attacks.plain(raw, f"{text}\n\n{word}") for word in words])
    return [words[i] for i in np.argsort(found, kind="stable")]


@contextmanager
def learned_for_a_while(classifier: Classifier, raws: Sequence[bytes]) -> Iterator[None]:
    """The model with these messages as spam."""
    for raw in raws:
        classifier.learn("spam", raw)
    yield
    for raw in raws:
        classifier.forget("spam", raw)


def main() -> None:
    read = [
        (entry.label, raw, hashlib.md5(Path(entry.name).name.encode()).digest(), entry)
        for entry, raw in messages(entries(sources("spamassassin", corpora_folder()), told), told)
    ]
    read.sort(key=lambda one: one[2])
    rest = read[LEARNED:]
    ham = [raw for label, raw, *_ in rest if label == "ham"][:HAM]
    spam = [raw for label, raw, *_ in rest if label == "spam" and len(attacks.visible(raw)) > 200][:SPAM]
    ham_text = ["\n".join(parse(raw).texts) for raw in ham]
    known = [(label, attacks.visible(raw)) for label, raw, *_ in read[:LEARNED]]
    words = good_words(*([text for label, text in known if label == wanted] for wanted in ("ham", "spam")))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = count_messages(((n, one[3]) for n, one in enumerate(read[:LEARNED])), Reader(), folder / "rows", told)
        for model in MODELS:
            train(folder / model, made, Settings(model_type=model))
            with Classifier.open(folder / model, writable=True) as classifier:
                of_ham = np.sort(margins(classifier, ham))
                print(f"{model}: 1-ROCA%", flush=True)
                for disguise, attack in attacks.ATTACKS.items():
                    rng = random.Random(disguise)
                    of_spam = margins(classifier, [attack(raw, ham_text, rng) for raw in spam])
                    print(f"  {disguise:18} {misplaced(of_ham, of_spam):6.2f}", flush=True)
                ranked = [greedy(classifier, raw, words) for raw in spam]
                for budget in BUDGETS:
                    made_up = [
                        attacks.plain(raw, attacks.visible(raw) + "\n\n" + " ".join(own[:budget]))
                        for raw, own in zip(spam, ranked)
                    ]
                    half = len(made_up) // 2
                    figures = [misplaced(of_ham, margins(classifier, made_up))]
                    for lessons in LESSONS if classifier.learner.forgets else ():
                        with learned_for_a_while(classifier, made_up[:lessons]):
                            now = np.sort(margins(classifier, ham))
                            figures.append(misplaced(now, margins(classifier, made_up[half:])))
                    print(f"  knows the model, {budget:3} words", *(f"{value:6.2f}" for value in figures), flush=True)


if __name__ == "__main__":
    main()
