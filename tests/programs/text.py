"""A generated text."""

import numpy as np


def words(count, vocabulary=300, seed=1):
    """A text in which each word is followed by one of a few others."""
    rng = np.random.RandomState(seed)
    letters = np.array(list("aeioubdfglmnprst"))
    names = sorted({"".join(letters[rng.randint(0, len(letters), rng.randint(2, 8))]) for _ in range(vocabulary)})
    followers = rng.randint(0, len(names), [len(names), 4])
    text, word = [], 0
    for _ in range(count):
        text.append(names[word])
        word = followers[word, rng.choice(4, p=[0.5, 0.25, 0.15, 0.1])]
    return text
