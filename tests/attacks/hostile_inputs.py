"""Inputs that an op must reject or answer: indices outside of a shape, shapes whose product overflows, boxes and ranges that are no numbers,
equations without a meaning, transforms of nothing. TensorFlow 2.21 crashes at 18 of them. Imported by attacks only, since it needs TensorFlow."""

import numpy as np
import tensorflow

tf = tensorflow.compat.v1
raw = tf.raw_ops
NAN, INF = float("nan"), float("inf")


def f32(values):
    return np.array(values, np.float32)


def i64(values):
    return np.array(values, np.int64)


# Indices, values and shape.
SPARSE = {
    "good": ([[0, 0], [1, 1]], [1, 2], [2, 3]),
    "outside": ([[0, 0], [5, 1]], [1, 2], [2, 3]),
    "negative index": ([[-1, 0], [1, 1]], [1, 2], [2, 3]),
    "huge shape": ([[0, 0], [1, 1]], [1, 2], [2**40, 2**40]),
    "negative shape": ([[0, 0]], [1], [-1, 3]),
    "unordered": ([[1, 1], [0, 0]], [1, 2], [2, 3]),
}


def sparse_ops(i, v, s):
    """Ops of one sparse tensor, by name."""
    n = v.astype(np.int64)
    dense = np.ones((2, 3), np.float32)
    one = {"input_indices": i, "input_values": v, "input_shape": s}
    sp = {"sp_indices": i, "sp_values": v, "sp_shape": s}
    many = {"sparse_indices": i, "sparse_values": v, "sparse_shape": s}
    two = {"a_indices": i, "a_values": v, "a_shape": s, "b_indices": i, "b_values": v, "b_shape": s}
    no_weights = np.zeros(0, np.float32)
    return {
        "SparseSplit": lambda: raw.SparseSplit(split_dim=i64(0), indices=i, values=v, shape=s, num_split=2),
        "SparseSlice": lambda: raw.SparseSlice(indices=i, values=v, shape=s, start=i64([0, 0]), size=i64([2, 2])),
        "SparseAdd": lambda: raw.SparseAdd(thresh=f32(0), **two),
        "SparseSparseMaximum": lambda: raw.SparseSparseMaximum(**two),
        "SparseReduceSum": lambda: raw.SparseReduceSum(reduction_axes=[1], **one),
        "SparseReduceMax": lambda: raw.SparseReduceMax(reduction_axes=[0], **one),
        "SparseReduceSumSparse": lambda: raw.SparseReduceSumSparse(reduction_axes=[1], **one),
        "SparseReduceMaxSparse": lambda: raw.SparseReduceMaxSparse(reduction_axes=[1], **one),
        "SparseReorder": lambda: raw.SparseReorder(**one),
        "SparseReshape": lambda: raw.SparseReshape(input_indices=i, input_shape=s, new_shape=i64([-1])),
        "SparseConcat": lambda: raw.SparseConcat(indices=[i, i], values=[v, v], shapes=[s, s], concat_dim=0),
        "SparseSoftmax": lambda: raw.SparseSoftmax(**sp),
        "SparseDenseCwiseMul": lambda: raw.SparseDenseCwiseMul(dense=dense, **sp),
        "SparseDenseCwiseAdd": lambda: raw.SparseDenseCwiseAdd(dense=dense, **sp),
        "SparseToDense": lambda: raw.SparseToDense(sparse_indices=i, output_shape=s, sparse_values=v, default_value=f32(0)),
        "SparseTensorDenseMatMul": lambda: raw.SparseTensorDenseMatMul(a_indices=i, a_values=v, a_shape=s, b=dense.T),
        "SparseTensorDenseAdd": lambda: raw.SparseTensorDenseAdd(a_indices=i, a_values=v, a_shape=s, b=dense),
        "SparseFillEmptyRows": lambda: raw.SparseFillEmptyRows(indices=i, values=v, dense_shape=s, default_value=f32(0)),
        "SerializeSparse": lambda: raw.SerializeSparse(**many),
        "SerializeManySparse": lambda: raw.SerializeManySparse(**many),
        "AddManySparseToTensorsMap": lambda: raw.AddManySparseToTensorsMap(**many),
        "SetSize": lambda: raw.SetSize(set_indices=i, set_values=n, set_shape=s),
        "SparseToSparseSetOperation": lambda: raw.SparseToSparseSetOperation(
            set1_indices=i, set1_values=n, set1_shape=s, set2_indices=i, set2_values=n, set2_shape=s, set_operation="union"),
        "SparseCross": lambda: raw.SparseCross(indices=[i, i], values=[n, n], shapes=[s, s], dense_inputs=[], hashed_output=True, num_buckets=10,
                                               hash_key=5, out_type=tf.int64, internal_type=tf.int64),
        "SparseBincount": lambda: raw.SparseBincount(indices=i, values=n, dense_shape=s, size=i64(4), weights=no_weights),
        "CTCLoss": lambda: raw.CTCLoss(inputs=np.ones((3, 2, 4), np.float32), labels_indices=i, labels_values=v.astype(np.int32), sequence_length=[3, 3]),
        "EditDistance": lambda: raw.EditDistance(hypothesis_indices=i, hypothesis_values=v, hypothesis_shape=s, truth_indices=i, truth_values=v,
                                                 truth_shape=s),
    }


def box_ops(box):
    image = np.random.RandomState(0).rand(1, 4, 4, 3).astype(np.float32)
    boxes, pair, scores = f32([box]), f32([box, [0, 0, 1, 1]]), f32([0.5, 0.6])
    crops = np.ones((1, 2, 2, 3), np.float32)
    limits = {"iou_threshold": f32(0.5), "score_threshold": f32(0.1)}
    return {
        "CropAndResize": lambda: raw.CropAndResize(image=image, boxes=boxes, box_ind=[0], crop_size=[2, 2]),
        "CropAndResizeGradImage": lambda: raw.CropAndResizeGradImage(grads=crops, boxes=boxes, box_ind=[0], image_size=[1, 4, 4, 3], T=tf.float32),
        "CropAndResizeGradBoxes": lambda: raw.CropAndResizeGradBoxes(grads=crops, image=image, boxes=boxes, box_ind=[0]),
        "DrawBoundingBoxes": lambda: raw.DrawBoundingBoxes(images=image, boxes=boxes[None]),
        "NonMaxSuppressionV3": lambda: raw.NonMaxSuppressionV3(boxes=pair, scores=scores, max_output_size=2, **limits),
        "CombinedNonMaxSuppression": lambda: raw.CombinedNonMaxSuppression(
            boxes=pair.reshape(1, 2, 1, 4), scores=scores.reshape(1, 2, 1), max_output_size_per_class=2, max_total_size=2, **limits),
        "SampleDistortedBoundingBoxV2": lambda: raw.SampleDistortedBoundingBoxV2(image_size=[4, 4, 3], bounding_boxes=boxes[None],
                                                                                 min_object_covered=f32(0.1), seed=1, seed2=2),
        "ExtractGlimpse": lambda: raw.ExtractGlimpse(input=image, size=[2, 2], offsets=boxes[:, :2], noise="zero"),
    }


def range_ops(a, b):
    x = f32([[0, 0.5], [1, 2]])
    ends = {"min_range": f32(a), "max_range": f32(b)}
    return {
        "HistogramFixedWidth": lambda: raw.HistogramFixedWidth(values=x, value_range=f32([a, b]), nbins=5),
        "FakeQuantWithMinMaxArgs": lambda: raw.FakeQuantWithMinMaxArgs(inputs=x, min=a, max=b),
        "FakeQuantWithMinMaxVars": lambda: raw.FakeQuantWithMinMaxVars(inputs=x, min=f32(a), max=f32(b)),
        "QuantizeV2": lambda: raw.QuantizeV2(input=x, T=tf.quint8, **ends),
        "QuantizeV2 scaled": lambda: raw.QuantizeV2(input=x, T=tf.qint8, mode="SCALED", **ends),
        "Dequantize": lambda: raw.Dequantize(input=tf.bitcast(tf.constant([1, 2], tf.uint8), tf.quint8), **ends),
        "QuantizeAndDequantizeV2": lambda: raw.QuantizeAndDequantizeV2(input=x, input_min=f32(a), input_max=f32(b), range_given=True),
        "Range": lambda: raw.Range(start=f32(a), limit=f32(b), delta=f32(1)),
        "LinSpace": lambda: raw.LinSpace(start=f32(a), stop=f32(b), num=3),
        "RaggedRange": lambda: raw.RaggedRange(starts=f32([a]), limits=f32([b]), deltas=f32([1])),
        "ParameterizedTruncatedNormal": lambda: raw.ParameterizedTruncatedNormal(shape=[2], means=f32([0]), stdevs=f32([1]), minvals=f32([a]), maxvals=f32([b])),
    }


EQUATIONS = [("...->", (2, 3)), ("->", (2, 3)), ("...a->", (2, 3)), ("a,...->a", (2,), (2, 3)), ("...a,...a->a", (2, 3), (2, 3)), ("ab->abb", (2, 3)),
             ("a b->a", (2, 3)), ("ab->...", (2, 3))]


def equations():
    def hidden(shape):  # so that only the server sees it
        return raw.PlaceholderWithDefault(input=np.ones(shape, np.float32), shape=tf.TensorShape(None))

    return {"Einsum " + equation: lambda e=equation, s=shapes: raw.Einsum(inputs=[hidden(shape) for shape in s], equation=e)
            for equation, *shapes in EQUATIONS}


def empty_transforms():
    """The server's memory must not be the answer."""
    sizes = {"": ((0,), [4]), "2D": ((0, 2), [2, 2]), "3D": ((1, 2, 0), [1, 2, 2])}
    return {kind + suffix: lambda k=kind + suffix, d=dtype, s=shape, n=length: getattr(raw, k)(input=np.ones(s, d), fft_length=n)
            for suffix, (shape, length) in sizes.items() for kind, dtype in (("RFFT", np.float32), ("IRFFT", np.complex64))}


def everything():
    """Functions that make a tensor, by name."""
    found = {}
    for kind, (indices, values, shape) in SPARSE.items():
        for name, make in sparse_ops(i64(indices), f32(values), i64(shape)).items():
            found["%s, %s" % (name, kind)] = make
    for box in ([NAN, 0, 1, 1], [0, 0, INF, 1], [-INF, 0, 1, 1], [1, 1, 0, 0], [0, 0, 1e30, 1]):
        for name, make in box_ops(box).items():
            found["%s, box %s" % (name, box)] = make
    for ends in ((NAN, 1.0), (0.0, NAN), (INF, 1.0), (0.0, INF), (INF, INF)):
        for name, make in range_ops(*ends).items():
            found["%s, range %s" % (name, ends)] = make
    return {**found, **equations(), **empty_transforms()}


# Parts of names of inputs that must be rejected.
REJECTED = ["SparseSplit, outside", "SparseSplit, negative index", "SparseSplit, huge", "SparseSlice, huge", "SparseConcat, huge", "SparseReduceSum, huge",
            "SparseSparseMaximum, outside", "CTCLoss, unordered", "CTCLoss, negative shape", "CropAndResize, box [nan", "CropAndResize, box [0, 0, inf",
            "CropAndResizeGradImage, box [nan", "Einsum ...->", "Einsum a,...->a", "RFFT"]
