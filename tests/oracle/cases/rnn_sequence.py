"""Reversed sequences, their distance, recurrent cells and connectionist temporal classification."""

from tests.oracle.table import *

F = {"T": "float"}


def lstm_inputs(batch, inputs, cell, time=None):
    x = rand(batch, inputs) if time is None else rand(time, batch, inputs)
    return [x, rand(batch, cell), rand(batch, cell), rand(inputs + cell, 4 * cell), rand(cell), rand(cell), rand(cell), rand(4 * cell)]


def states(n, *shape):
    return [uniform(-0.9, 0.9).of(*shape) for _ in range(n)]


def length(n):
    return values(n, "int64")


ROWS = [
    Row("ReverseSequence", cases=[C(rand(3, 5, 2), values([0, 5, 3]), seq_dim=1), C(rand(4, 3), values([1, 4, 2]), seq_dim=0, batch_dim=1), C(rand(2, 2, 3), values([2, 3]), seq_dim=2), C(rand(0, 3), values(numpy.zeros((0,))), seq_dim=1)],
        types={"T": ALL, "Tlen": INDEX}, errors=[C(rand(2, 3), values([1, 4]), seq_dim=1, types={"T": "float", "Tlen": "int32"}, says="seq_lens"), C(rand(2, 3), values([1, -1]), seq_dim=1, types={"T": "float", "Tlen": "int32"}, says="seq_lens"),
                C(rand(2, 3), values([1]), seq_dim=1, types={"T": "float", "Tlen": "int32"}, says="seq_lens|seq_lengths|equal"), C(rand(2, 3), values([1, 1]), seq_dim=2, types={"T": "float", "Tlen": "int32"}, says="seq_dim")]),
    Row("EditDistance", cases=[
        C(values([[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 0, 1]]), values([1, 2, 1, 1, 1]), values([2, 2, 2]), values([[0, 0, 0], [0, 0, 1], [0, 0, 2], [1, 0, 0], [1, 1, 0]]), values([2, 3, 1, 0, 1]), values([2, 2, 3]), normalize=n)
        for n in (True, False)] + [C(values([[0, 0]]), values([1]), values([1, 1]), values(numpy.zeros((0, 2))), values(numpy.zeros((0,))), values([1, 0]))],
        types={"T": ("float", "int32", "int64", "uint8", "double", "half")},
        errors=[C(values([[0, 0]]), values([1]), values([1, 1]), values([[0, 0, 0]]), values([1]), values([1, 1, 1]), types={"T": "int32"}), C(values([[0, 0]]), values([1, 2]), values([1, 1]), values([[0, 0]]), values([1]), values([1, 1]), types={"T": "int32"})]),
    Row("EditDistance", cases=[C(values([[0, 0], [0, 1]]), values(["a", "b"], "string"), values([1, 2]), values([[0, 0], [0, 1]]), values(["a", "c"], "string"), values([1, 2]))], types={"T": ("string",)}, name="strings"),
    Row("EditDistance", cases=[C(values([[0, 0], [0, 1]]), values(numpy.array([0.0, numpy.nan])), values([1, 2]), values([[0, 0], [0, 1]]), values(numpy.array([-0.0, numpy.nan])), values([1, 2]), normalize=False),
                               C(values([[0, 0]]), values(numpy.array([0.0])), values([1, 1]), values([[0, 0]]), values(numpy.array([-0.0])), values([1, 1]))], types={"T": ("float", "half", "double")}, name="zeros"),
    Row("LSTMBlockCell", cases=[C(*lstm_inputs(2, 3, 4)), C(*lstm_inputs(3, 1, 2), use_peephole=True, forget_bias=0.5, cell_clip=0.6), C(*lstm_inputs(1, 2, 3), cell_clip=-1.0)], tol={"half": 8e-3},
        errors=[C(*[rand(2, 3), rand(2, 4), rand(2, 4), rand(6, 16), rand(4), rand(4), rand(4), rand(16)], types=F, says="w")]),
    Row("LSTMBlockCellGrad", cases=[C(*lstm_inputs(2, 3, 4), *states(8, 2, 4), use_peephole=p) for p in (True, False)], tol={"half": 8e-3}),
    Row("BlockLSTM", cases=[C(length(3), *lstm_inputs(2, 3, 4, 3)), C(length(4), *lstm_inputs(2, 3, 2, 4), use_peephole=True, forget_bias=0.5, cell_clip=0.0)], tol={"half": 1e-2}, types={"T": ("float",)}, grad="tf"),
    Row("BlockLSTMV2", cases=[C(length(3), *lstm_inputs(2, 3, 4, 3)), C(length(4), *lstm_inputs(2, 3, 2, 4), use_peephole=True)], types={"T": ("float",)}, grad=False),
    Row("BlockLSTM", cases=[C(length(3), *lstm_inputs(2, 3, 4, 3))], types={"T": ("half",)}, tol=1e-2, grad=False, name="half"),
    Row("BlockLSTMV2", cases=[C(length(3), *lstm_inputs(2, 3, 4, 3))], types={"T": ("half",)}, tol=1e-2, grad=False, name="half"),
    Row("BlockLSTMGrad", cases=[C(length(2), *lstm_inputs(2, 3, 4, 3), *states(9, 3, 2, 4), use_peephole=p) for p in (True, False)], tol={"half": 3e-2}),
    Row("BlockLSTMGradV2", cases=[C(length(3), *lstm_inputs(2, 3, 4, 3), *states(9, 3, 2, 4), use_peephole=p) for p in (True, False)], tol={"half": 3e-2}),
    Row("GRUBlockCell", cases=[C(rand(2, 3), rand(2, 4), rand(7, 8), rand(7, 4), rand(8), rand(4))], errors=[C(rand(2, 3), rand(2, 4), rand(7, 7), rand(7, 4), rand(8), rand(4), types=F, says="w_ru")]),
    Row("GRUBlockCellGrad", cases=[C(rand(2, 3), rand(2, 4), rand(7, 8), rand(7, 4), rand(8), rand(4), *states(4, 2, 4))]),
    Row("CTCLoss", cases=[
        C(rand(6, 2, 4), values([[0, 0], [0, 1], [1, 0]]), values([0, 2, 1]), values([6, 4])),
        C(rand(7, 2, 4), values([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1]]), values([1, 1, 2, 0, 0]), values([7, 5])),
        C(rand(7, 2, 4), values([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1]]), values([1, 1, 2, 0, 0]), values([7, 5]), preprocess_collapse_repeated=True),
        C(rand(7, 2, 4), values([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1]]), values([1, 1, 2, 0, 0]), values([7, 5]), ctc_merge_repeated=False),
        C(rand(2, 1, 4), values([[0, 0], [0, 1], [0, 2]]), values([1, 0, 2]), values([2]), ignore_longer_outputs_than_inputs=True)], grad="tf", tol={"float": 2e-5, "double": 1e-7}, grad_tol={"float": 2e-4, "double": 1e-6},
        errors=[C(rand(2, 1, 4), values([[0, 0], [0, 1], [0, 2]]), values([1, 0, 2]), values([2]), types=F, says="Not enough time"),
                C(rand(2, 1, 4), values([[0, 0]]), values([1]), values([3]), types=F, says="sequence_length"), C(rand(2, 2, 4), values([[0, 0]]), values([1]), values([2]), types=F, says="sequence_length|equal"),
                C(rand(3, 2, 4), values([[0, 0]]), values([1]), values([3, 3]), types=F, says="Labels length is zero in batch 1"), C(rand(3, 2, 4), values([[1, 0], [0, 0]]), values([1, 2]), values([3, 3]), types=F, says="out of order")]),
    Row("CTCGreedyDecoder", cases=[C(distinct().of(5, 3, 4), values([5, 3, 0])), C(distinct().of(5, 2, 3), values([5, 4]), merge_repeated=True), C(distinct().of(5, 2, 3), values([5, 4]), blank_index=0), C(distinct().of(9, 1, 2), values([9]), merge_repeated=True, blank_index=-2)],
        errors=[C(rand(2, 1, 4), values([3]), types=F, says="sequence_length"), C(rand(2, 1, 4), values([2]), blank_index=4, types=F, says="blank")]),
    Row("CTCBeamSearchDecoder", cases=[C(uniform(-3, 3).of(6, 3, 5), [6, 4, 1], beam_width=w, top_paths=p, merge_repeated=m) for w, p in ((1, 1), (4, 2), (20, 3)) for m in (False, True)]
        + [C(uniform(-3, 3).of(12, 2, 9), [12, 10], beam_width=30, top_paths=4)], tol={"float": 1e-5, "double": 1e-6},  # TensorFlow sums in float
        errors=[C(rand(4, 5), values([4]), beam_width=3, top_paths=1, types={"T": "float"}, says="3-Tensor|rank"), C(rand(4, 2, 5), values([4, 5]), beam_width=3, top_paths=1, types={"T": "float"}, says="sequence_length"),
                C(rand(4, 2, 5), values([4]), beam_width=3, top_paths=1, types={"T": "float"}, says="sequence_length|must be"), C(rand(4, 2, 5), values([4, 4]), beam_width=2, top_paths=3, types={"T": "float"}, says="beam width"), C(rand(3, 0, 4), values(numpy.zeros(0, numpy.int32)), beam_width=3, top_paths=1, types={"T": "float"}, says="empty")]),
]
