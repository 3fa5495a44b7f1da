"""What the models are fed: a row a step, the same in every run."""

import numpy

from tests.oracle.models.model import STEPS


def generator(seed):
    return numpy.random.default_rng(seed)


def images(batch, size=28, channels=1, seed=1):
    """Blurred blobs in [0, 1]; where a blob lies and how large it is follows from its class."""
    rng = generator(seed)
    labels = rng.integers(0, 10, (STEPS, batch)).astype(numpy.int32)
    axis = numpy.arange(size) / size
    angle = labels * (numpy.pi / 5)
    y = 0.5 + 0.3 * numpy.sin(angle)[..., None] - axis
    x = 0.5 + 0.3 * numpy.cos(angle)[..., None] - axis
    blobs = numpy.exp(-20 * (y[..., :, None]**2 + x[..., None, :]**2))
    noise = rng.uniform(0, 0.3, blobs.shape + (channels,))
    return numpy.clip(blobs[..., None] + noise, 0, 1).astype(numpy.float32), labels


def text():
    """A real text as ids of its characters in order of code, and how many there are."""
    with open("/usr/share/common-licenses/GPL-2", "rb") as file:
        characters = numpy.frombuffer(file.read(), numpy.uint8)
    alphabet, ids = numpy.unique(characters, return_inverse=True)
    return ids.astype(numpy.int32), len(alphabet)


def characters(batch, length):
    """[steps, batch, length] of ids, each sequence from a place of its own."""
    ids, classes = text()
    starts = (numpy.arange(STEPS * batch) * 131) % (len(ids) - length)
    return numpy.stack([ids[s:s + length] for s in starts]).reshape(STEPS, batch, length), classes


def words(batch, vocabulary=300):
    """Skip-grams: ids of words and of their neighbours, in order of frequency."""
    with open("/usr/share/common-licenses/GPL-2", encoding="utf-8") as file:
        tokens = file.read().lower().split()
    counts = {}
    for token in tokens:
        counts[token] = counts.get(token, 0) + 1
    ranked = sorted(counts, key=lambda w: (-counts[w], w))[:vocabulary - 1]
    ids = {word: i + 1 for i, word in enumerate(ranked)}
    sequence = numpy.array([ids.get(t, 0) for t in tokens])
    centers = 1 + (numpy.arange(STEPS * batch) * 7) % (len(sequence) - 2)
    side = numpy.where(numpy.arange(len(centers)) % 2 == 0, -1, 1)
    return (sequence[centers].reshape(STEPS, batch).astype(numpy.int32),
            sequence[centers + side].reshape(STEPS, batch, 1).astype(numpy.int64))


def ratings(batch, users, items):
    rng = generator(5)
    user, item = rng.integers(0, users, (STEPS, batch)), rng.integers(0, items, (STEPS, batch))
    taste, kind = rng.normal(size=(users, 3)), rng.normal(size=(items, 3))
    rating = 3 + (taste[user] * kind[item]).sum(-1) * 0.5 + rng.normal(size=user.shape) * 0.1
    return user.astype(numpy.int32), item.astype(numpy.int32), rating.astype(numpy.float32)


def clicks(batch, numbers=13, categories=26):
    """A log as Criteo's: counts, categories as hexadecimal words of very different frequency, clicked or not."""
    rng = generator(6)
    dense = rng.poisson(3, (STEPS, batch, numbers)).astype(numpy.float32)
    value = numpy.floor(rng.pareto(1.2, (STEPS, batch, categories)) * 3).astype(numpy.int64) % 1000
    names = numpy.array([["%08x" % ((v * 2654435761 + 97 * c) % 2**32) for v in range(1000)] for c in range(categories)],
                        "S8")
    words_of = names[numpy.arange(categories), value]
    chance = 1 / (1 + numpy.exp(-(0.4 * dense[..., 0] - 0.3 * dense[..., 1] + (value[..., :4] % 3 - 1).sum(-1))))
    clicked = (rng.uniform(size=chance.shape) < chance).astype(numpy.float32)
    return dense, words_of, clicked
