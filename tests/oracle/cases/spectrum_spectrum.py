"""Spectrograms and cepstral coefficients."""

from tests.oracle.table import *

LOUD = uniform(0, 3)


def rate(n):
    return values(numpy.array(n, "int32"), "int32")


ROWS = [
    Row("AudioSpectrogram", cases=[C(rand(n, c), window_size=w, stride=s, magnitude_squared=q) for n, c, w, s in ((64, 1, 16, 8), (50, 2, 10, 3), (100, 1, 33, 50), (5, 1, 8, 2), (16, 1, 16, 1)) for q in (False, True)], types=[{}], tol=1e-4,
        errors=[C(rand(64), window_size=16, stride=8, says="rank|dimension"), C(rand(64, 1), window_size=16, stride=0, says="stride|dimension"), C(rand(64, 1), window_size=1, stride=2, says="window size")]),
    Row("Mfcc", cases=[C(LOUD.of(c, f, b), rate(r)) for c, f, b, r in ((1, 3, 129, 16000), (2, 2, 65, 8000), (1, 1, 257, 44100))] + [C(LOUD.of(1, 2, 65), rate(16000), upper_frequency_limit=7000.0, lower_frequency_limit=100.0, filterbank_channel_count=20, dct_coefficient_count=20)], types=[{}], tol=1e-4,
        errors=[C(LOUD.of(2, 65), rate(16000), says="rank|dimension"), C(LOUD.of(1, 2, 65), rate([16000]), says="rank|scalar"), C(LOUD.of(1, 2, 65), rate(16000), upper_frequency_limit=10.0, says="upper")]),
]
