"""Batch normalisation and local response normalisation."""

from tests.oracle.table import *

X = uniform(-2, 2)
V = uniform(0.5, 2)
HALF_TOL = {"half": 5e-3, "bfloat16": 4e-2, "float": 2e-5}
HALF_GRAD = {"half": 4e-2, "bfloat16": 0.3, "float": 2e-4}


def norm(x, n, **attrs):
    """scale, offset, mean and variance of n channels."""
    return C(x, V.of(n), X.of(n), X.of(n), V.of(n), **({"epsilon": 0.01} | attrs))


def measured(x, n, **attrs):
    """Without mean and variance."""
    return C(x, V.of(n), X.of(n), values(numpy.zeros(0)), values(numpy.zeros(0)), **({"epsilon": 0.01} | attrs))


TRAINING = [
    measured(X.of(2, 3, 4, 3), 3), norm(X.of(2, 3, 4, 3), 3), norm(X.of(2, 3, 4, 3), 3, exponential_avg_factor=0.25),
    measured(X.of(2, 3, 4, 2), 3, data_format="NCHW"), norm(X.of(2, 3, 4, 2), 3, data_format="NCHW", exponential_avg_factor=0.5), norm(X.of(8, 9, 10, 5), 5)]
VOLUMES = [measured(X.of(2, 2, 3, 2, 3), 3, data_format="NDHWC")]


def wrong(types):
    def case(x, *sizes, says, **attrs):
        return C(x, *[V.of(*s) for s in sizes], types=types, says=says, **attrs)

    return [
        case(X.of(2, 3, 4, 3), (2,), (3,), (3,), (3,), says="scale must have the same number of elements|must be equal"),
        case(X.of(2, 3, 4, 3), (3,), (3,), (0,), (0,), is_training=False, says="mean must have the same number of elements|must be equal"),
        case(X.of(3, 4, 3), (3,), (3,), (3,), (3,), says="-dimensional|rank"),
        case(X.of(2, 3, 4, 3), (3, 1), (3,), (3,), (3,), says="1-dimensional|rank")]


FORMATS = (("NHWC", (2, 3, 4, 3)), ("NCHW", (2, 3, 4, 2)))
ALL_FORMATS = FORMATS + (("NDHWC", (2, 2, 3, 2, 3)), ("NCDHW", (2, 3, 2, 2, 3)))


# A full vector of channels and a remainder; rows that are summed in two blocks.
WIDE = (("NHWC", (2, 5, 7, 20)),)


def channels(data_format, shape):
    return shape[data_format.index("C")]


def forward(version, is_training, formats):
    """y alone: TensorFlow writes nothing into the last outputs in inference, and differentiates y alone."""

    def build(b):
        dtype = b.types["T"]
        for data_format, shape in formats:
            vector = lambda gen: b.input(gen.of(channels(data_format, shape)).typed("float"))
            x, scale, offset, mean, variance = b.input(X.of(*shape).typed(dtype)), vector(V), vector(X), vector(X), vector(V)
            y = b.op("FusedBatchNorm" + version, x, scale, offset, mean, variance, epsilon=0.01, data_format=data_format, is_training=is_training)
            # In inference TensorFlow leaves the other results uninitialized.
            b.run(fetches=[y, y[1], y[2]] if is_training else [y[0]])
            b.gradients([y], [x, scale, offset])

    return build


def backward(version, is_training, formats):
    """In training the statistics have to be those of x, so that the forward op comes first."""

    def build(b):
        dtype = b.types["T"]
        for data_format, shape in formats:
            vector = lambda gen: b.input(gen.of(channels(data_format, shape)).typed("float"))
            attrs = {"epsilon": 0.01, "data_format": data_format, "is_training": is_training}
            x, grad, scale, mean, variance = b.input(X.of(*shape).typed(dtype)), b.input(X.of(*shape).typed(dtype)), vector(V), vector(X), vector(V)
            y = b.op("FusedBatchNorm" + version, x, scale, vector(X), mean, variance, **attrs)
            statistics = [y[3], y[4]] if is_training else [mean, variance]
            if version == "V3":
                statistics.append(y[5])
            back = b.op("FusedBatchNormGrad" + version, grad, x, scale, *statistics, **attrs)
            b.run(fetches=[back, back[1], back[2]])
            b.gradients([back, back[1], back[2]], [grad, x, scale])

    return build


def rows(version, formats, size=""):
    types = {"T": ("float",)} if version == "" else {"T": ("float", "half", "bfloat16"), "U": ("float",)}
    for is_training in (True, False):
        name = size + ("training" if is_training else "inference")
        yield Row("FusedBatchNorm" + version, build=forward(version, is_training, formats), types=types, name=name, tol=HALF_TOL, grad_tol=HALF_GRAD, numeric_tol=2e-2)
        # TensorFlow's gradient op supports only channels last in inference.
        yield Row("FusedBatchNormGrad" + version, build=backward(version, is_training, formats if is_training else formats[:1]), types=types, name=name, tol=HALF_TOL,
                  grad_tol=HALF_GRAD, numeric_tol=2e-2)


ROWS = [
    Row("FusedBatchNorm", cases=TRAINING, errors=wrong({"T": "float"}), tol=HALF_TOL, grad_tol=HALF_GRAD, grad="tf"),
    Row("FusedBatchNormV2", cases=TRAINING, errors=wrong({"T": "float", "U": "float"}), tol=HALF_TOL, grad_tol=HALF_GRAD, grad="tf"),
    Row("FusedBatchNormV3", cases=TRAINING + VOLUMES, errors=wrong({"T": "float", "U": "float"}), tol=HALF_TOL, grad_tol=HALF_GRAD, grad="tf"),
    *rows("", FORMATS), *rows("V2", FORMATS), *rows("V3", ALL_FORMATS), *rows("V3", WIDE, "wide_"),
    Row("LRN", cases=[C(X.of(1, 2, 3, 7)), C(X.of(2, 2, 2, 9), depth_radius=2, bias=2.0, alpha=0.5, beta=0.75), C(X.of(0, 2, 2, 3))],
        errors=[C(rand(2, 3), types={"T": "float"}, says="4-dim|rank")], tol=HALF_TOL, grad_tol=HALF_GRAD, numeric_tol=1e-2),
    Row("LRNGrad", cases=[C(X.of(1, 2, 3, 7), X.of(1, 2, 3, 7), X.of(1, 2, 3, 7)),
                          C(X.of(2, 2, 2, 9), X.of(2, 2, 2, 9), X.of(2, 2, 2, 9), depth_radius=2, bias=2.0, alpha=0.5, beta=0.75)],
        errors=[C(rand(1, 2, 2, 3), rand(1, 2, 2, 4), rand(1, 2, 2, 3), types={"T": "float"}, says="same shape|must be equal|compatible")],
        tol={"half": 2e-2, "float": 1e-4}, grad=False),
    Row("LRN", errors=[C(rand(1, 2, 3, 4), depth_radius=2147483648, types={"T": "float"}, says="depth_radius"), C(rand(1, 2, 3, 4), depth_radius=-1, types={"T": "float"}, says="depth_radius")], name="radius"),
]
