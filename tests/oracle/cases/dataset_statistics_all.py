"""Measurements of datasets. Times differ from run to run: ops/summary/dataset_statistics_test.cc has them."""

import tensorflow

from tests.oracle.datasets import *
from tests.oracle.table import *


def row(op, build, name=""):
    return Row(op, build=program(build), types=[{}], name=name)


def aggregator(p, op="StatsAggregatorHandle"):
    p.count += 1
    return p.b.op(op, container="", shared_name=p.b.name("a%d" % p.count))


def measured(p, dataset, tag="bytes", op="BytesProducedStatsDataset"):
    return p.over(op, dataset, tag)


def through(p, dataset, handle, tag="", op="SetStatsAggregatorDataset"):
    return p.over(op, dataset, handle, tag, "prefix")


def summary(p, handle, op="StatsAggregatorSummary", **more):
    p.b.run(fetches=[p.b.op(op, handle)], **more)


def strings(p):
    return p.op("TensorSliceDataset", [values(["", "a", "b" * 1000, "c" * 22], "string")], types=["string"])


PIPELINES = {
    "numbers": lambda p: measured(p, p.numbers(5)),
    "strings": lambda p: measured(p, strings(p)),
    "batches": lambda p: measured(p, p.over("BatchDatasetV2", p.numbers(7), n64(2), False, shapes=[[None]])),
    "two components": lambda p: measured(p, p.op("ZipDataset", [p.numbers(4), strings(p)], types=["int64", "string"], shapes=[[], []], N=2)),
    "before a batch": lambda p: p.over("BatchDatasetV2", measured(p, p.numbers(5)), n64(2), False, shapes=[[None]]),
    "before a skip": lambda p: p.over("SkipDataset", measured(p, p.numbers(5)), n64(2)),
    "before a repeat": lambda p: p.over("RepeatDataset", measured(p, p.numbers(3)), n64(2)),
    "in each epoch": lambda p: measured(p, p.over("RepeatDataset", p.numbers(3), n64(2))),
    "no element": lambda p: measured(p, p.numbers(0)),
}
SIZES = {"strings": 4, "batches": 4, "two components": 4, "before a batch": 3, "before a skip": 3, "before a repeat": 6, "in each epoch": 6, "no element": 0}


def counted(name, tag=""):
    def build(p):
        handle = aggregator(p)
        p.read(through(p, PIPELINES[name](p), handle, tag), SIZES.get(name, 5))
        summary(p, handle)

    return build


def nested(p):
    """Each dataset measures for the next aggregator behind it."""
    inner, outer = aggregator(p), aggregator(p)
    dataset = measured(p, through(p, measured(p, p.numbers(4)), inner, "inner"), "late")
    p.read(through(p, dataset, outer, "outer"), 4)
    summary(p, inner)
    summary(p, outer)


OLDER = ["ExperimentalBytesProducedStatsDataset", "ExperimentalLatencyStatsDataset", "ExperimentalSetStatsAggregatorDataset", "ExperimentalStatsAggregatorHandle", "ExperimentalStatsAggregatorSummary"]


def older_names(p):
    bytes_of, latency_of, through_op, handle_op, summary_op = OLDER
    p.read(through(p, measured(p, p.numbers(3), op=latency_of), aggregator(p, handle_op), op=through_op), 3)
    handle = aggregator(p, handle_op)
    p.read(through(p, measured(p, p.numbers(3), op=bytes_of), handle, op=through_op), 3)
    summary(p, handle, summary_op)


def twice(p):
    handle = aggregator(p)
    dataset = through(p, measured(p, p.numbers(3)), handle)
    for _ in range(2):
        p.read(dataset, 3)
        summary(p, handle)


def not_measured(p):
    handle = aggregator(p)
    summary(p, handle)
    p.read(measured(p, p.numbers(3)), 3)
    p.read(measured(p, through(p, p.numbers(3), handle)), 3)
    summary(p, handle)


def times(p):
    p.read(through(p, measured(p, p.numbers(3), op="LatencyStatsDataset"), aggregator(p)), 3)


def events(p):
    handle = aggregator(p, "StatsAggregatorHandleV2")
    p.read(through(p, measured(p, p.numbers(3)), handle), 3)
    summary(p, handle)


def errors(p):
    handle, two = aggregator(p), p.b.op("PlaceholderWithDefault", values(["a", "b"], "string"), shape=None)
    p.read(measured(p, p.numbers(3), two), 0, make_error="tag must be a scalar")
    p.read(through(p, p.numbers(3), handle, two), 0, make_error="tag must be a scalar")
    p.read(p.over("SetStatsAggregatorDataset", p.numbers(3), handle, "", two), 0, make_error="counter_prefix must be a scalar")
    variable = p.b.op("VarHandleOp", dtype="float32", shape=[], shared_name=p.b.name("v"))
    p.read(through(p, p.numbers(3), variable), 0, make_error="StatsAggregatorResource")
    summary(p, variable, error=True, says="StatsAggregatorResource")


def no_writer(p):
    writer = p.b.op("SummaryWriter", shared_name=p.b.name("w"), container="")
    p.b.run(targets=[p.b.op("StatsAggregatorSetSummaryWriter", aggregator(p, "StatsAggregatorHandleV2"), writer)], error=True, says="does not exist")


ROWS = [
    *(row("BytesProducedStatsDataset", counted(name), name) for name in PIPELINES), row("SetStatsAggregatorDataset", counted("numbers", "tag"), "tag"),
    row("SetStatsAggregatorDataset", nested, "nested"), row("StatsAggregatorHandle", not_measured), row("SetStatsAggregatorDataset", errors, "errors"),
    row("StatsAggregatorSummary", twice), row("LatencyStatsDataset", times), row("StatsAggregatorHandleV2", events),
    row("StatsAggregatorSetSummaryWriter", no_writer), *(row(op, older_names) for op in OLDER),
]
