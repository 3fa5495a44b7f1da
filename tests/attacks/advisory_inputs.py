"""More inputs of the classes of TensorFlow's published advisories: sizes that are zero, negative or overflow, indices outside, and arguments whose
shapes do not fit together. Only the server sees values and shapes. Imported by attacks only, since it needs TensorFlow."""

import numpy as np
import tensorflow

tf = tensorflow.compat.v1
raw = tf.raw_ops
MAX32, MAX64 = 2**31 - 1, 2**63 - 1


def h(value, dtype=np.float32):
    """A tensor whose value and shape the client does not know."""
    return raw.PlaceholderWithDefault(input=np.array(value, dtype), shape=tf.TensorShape(None))


def i32(value):
    return h(value, np.int32)


def i64(value):
    return h(value, np.int64)


def strings(value):
    return raw.PlaceholderWithDefault(input=np.array(value, object), shape=tf.TensorShape(None))


def ones(*shape):
    return h(np.ones(shape))


def quantized(*shape, dtype=tf.quint8):
    return tf.bitcast(h(np.ones(shape), np.uint8 if dtype == tf.quint8 else np.int32), dtype)


def convolutions():
    image, kernel = lambda: ones(1, 4, 4, 2), lambda: ones(2, 2, 2, 3)
    conv = {"strides": [1, 1, 1, 1], "padding": "VALID"}
    sizes = {"negative": [1, -4, 4, 2], "huge": [1, MAX32, MAX32, 2], "zero": [0, 0, 0, 0], "of rank 2": [4, 4], "large": [1, 65536, 65536, 2]}
    found = {
        "Conv2D, no channels": lambda: raw.Conv2D(input=ones(1, 4, 4, 0), filter=ones(2, 2, 0, 3), **conv),
        "Conv2D, channels that do not divide": lambda: raw.Conv2D(input=ones(1, 4, 4, 3), filter=kernel(), **conv),
        "Conv2D, empty filter": lambda: raw.Conv2D(input=image(), filter=ones(0, 0, 2, 3), **conv),
        "Conv2D, vector": lambda: raw.Conv2D(input=ones(4), filter=kernel(), **conv),
        "Conv2DBackpropFilter, gradients of another batch": lambda: raw.Conv2DBackpropFilter(
            input=image(), filter_sizes=i32([2, 2, 2, 3]), out_backprop=ones(5, 3, 3, 3), **conv),
        "Conv2DBackpropInput, no gradients": lambda: raw.Conv2DBackpropInput(
            input_sizes=i32([1, 4, 4, 2]), filter=kernel(), out_backprop=ones(1, 0, 0, 3), **conv),
        "Conv3D, no channels": lambda: raw.Conv3D(input=ones(1, 2, 2, 2, 0), filter=ones(1, 1, 1, 0, 1), strides=[1] * 5, padding="SAME"),
        "DepthwiseConv2dNative, no channels": lambda: raw.DepthwiseConv2dNative(input=ones(1, 4, 4, 0), filter=ones(2, 2, 0, 1), **conv),
        "Dilation2D, filter of another depth": lambda: raw.Dilation2D(input=image(), filter=ones(2, 2, 5), strides=[1] * 4, rates=[1] * 4, padding="VALID"),
        "Dilation2DBackpropInput, small gradients": lambda: raw.Dilation2DBackpropInput(
            input=image(), filter=ones(2, 2, 2), out_backprop=ones(1, 1, 1, 1), strides=[1] * 4, rates=[1] * 4, padding="VALID"),
    }
    for name, size in sizes.items():
        found["Conv2DBackpropInput, %s size" % name] = lambda s=size: raw.Conv2DBackpropInput(
            input_sizes=i32(s), filter=kernel(), out_backprop=ones(1, 3, 3, 3), **conv)
        found["Conv2DBackpropFilter, %s size" % name] = lambda s=size: raw.Conv2DBackpropFilter(
            input=image(), filter_sizes=i32(s), out_backprop=ones(1, 3, 3, 3), **conv)
        found["AvgPoolGrad, %s size" % name] = lambda s=size: raw.AvgPoolGrad(
            orig_input_shape=i32(s), grad=ones(1, 3, 3, 2), ksize=[1, 2, 2, 1], **conv)
        found["Conv3DBackpropInputV2, %s size" % name] = lambda s=size: raw.Conv3DBackpropInputV2(
            input_sizes=i32([1] + s), filter=ones(1, 1, 1, 2, 1), out_backprop=ones(1, 2, 2, 2, 1), strides=[1] * 5, padding="SAME")
    return found


def pools():
    pool = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
    rows = {"ordered": [0, 2, 4], "negative": [-5, 2, 4], "outside": [0, 2, 1000], "descending": [4, 2, 0], "empty": []}
    found = {
        "MaxPool, no rows": lambda: raw.MaxPool(input=ones(1, 0, 4, 1), **pool),
        "MaxPoolGrad, others' shapes": lambda: raw.MaxPoolGrad(orig_input=ones(1, 4, 4, 1), orig_output=ones(1, 1, 1, 1), grad=ones(1, 2, 2, 1), **pool),
        "MaxPoolGrad, nothing": lambda: raw.MaxPoolGrad(orig_input=ones(0), orig_output=ones(0), grad=ones(0), **pool),
        "MaxPoolGradGrad, others' shapes": lambda: raw.MaxPoolGradGrad(orig_input=ones(1, 4, 4, 1), orig_output=ones(1, 2, 2, 1), grad=ones(1, 1, 1, 1), **pool),
        "MaxPoolGradWithArgmax, outside": lambda: raw.MaxPoolGradWithArgmax(
            input=ones(1, 4, 4, 1), grad=ones(1, 2, 2, 1), argmax=i64([[[[99], [-1]], [[MAX64], [3]]]]), **pool),
        "MaxPool3DGrad, nothing": lambda: raw.MaxPool3DGrad(
            orig_input=ones(1, 2, 2, 2, 1), orig_output=ones(0), grad=ones(1, 1, 1, 1, 1), ksize=[1, 2, 2, 2, 1], strides=[1] * 5, padding="VALID"),
        "AvgPool3DGrad, no gradients": lambda: raw.AvgPool3DGrad(
            orig_input_shape=i32([1, 2, 2, 2, 1]), grad=ones(0, 0, 0, 0, 0), ksize=[1, 2, 2, 2, 1], strides=[1] * 5, padding="VALID"),
        "FractionalMaxPool, larger than the image": lambda: raw.FractionalMaxPool(value=ones(1, 2, 2, 1), pooling_ratio=[1.0, 100.0, 100.0, 1.0]),
        "FractionalAvgPool, no image": lambda: raw.FractionalAvgPool(value=ones(0, 0, 0, 0), pooling_ratio=[1.0, 1.5, 1.5, 1.0]),
    }
    for name, sequence in rows.items():
        found["FractionalAvgPoolGrad, %s rows" % name] = lambda s=sequence: raw.FractionalAvgPoolGrad(
            orig_input_tensor_shape=i64([1, 4, 4, 1]), out_backprop=ones(1, 2, 2, 1), row_pooling_sequence=i64(s), col_pooling_sequence=i64([0, 2, 4]))
        found["FractionalMaxPoolGrad, %s rows" % name] = lambda s=sequence: raw.FractionalMaxPoolGrad(
            orig_input=ones(1, 4, 4, 1), orig_output=ones(1, 2, 2, 1), out_backprop=ones(1, 2, 2, 1), row_pooling_sequence=i64(s),
            col_pooling_sequence=i64([0, 2, 4]))
    return found


def sizes():
    """Ops that make tensors of sizes from values."""
    found = {}
    for name, n in {"negative": -5, "huge": MAX32}.items():
        found.update({
            "Fill, %s" % name: lambda n=n: raw.Fill(dims=i64([n, n, n]), value=h(1)),
            "Tile, %s" % name: lambda n=n: raw.Tile(input=ones(2, 2), multiples=i64([n, n])),
            "BroadcastTo, %s" % name: lambda n=n: raw.BroadcastTo(input=ones(1), shape=i64([n, n, 1])),
            "Reshape, %s" % name: lambda n=n: raw.Reshape(tensor=ones(4), shape=i64([n, n])),
            "OneHot, %s" % name: lambda n=n: raw.OneHot(indices=i64([[1, 2]] * 100), depth=i32(n), on_value=h(1), off_value=h(0)),
            "ScatterNd, %s" % name: lambda n=n: raw.ScatterNd(indices=i64([[1]]), updates=ones(1, 4), shape=i64([n, n])),
            "Bincount, %s" % name: lambda n=n: raw.Bincount(arr=i32([1, 2]), size=i32(n), weights=ones(0)),
            "DenseBincount, %s" % name: lambda n=n: raw.DenseBincount(input=i32([[1, 2], [-7, 9]]), size=i32(n), weights=ones(0)),
            "UnsortedSegmentSum, %s" % name: lambda n=n: raw.UnsortedSegmentSum(data=ones(2, 3), segment_ids=i32([0, 1]), num_segments=i32(n)),
            "UnsortedSegmentJoin, %s" % name: lambda n=n: raw.UnsortedSegmentJoin(inputs=strings(["a", "b"]), segment_ids=i32([0, 1]), num_segments=i32(n)),
            "ResizeBilinear, %s" % name: lambda n=n: raw.ResizeBilinear(images=ones(1, 2, 2, 1), size=i32([n, n])),
            "ResizeNearestNeighborGrad, %s" % name: lambda n=n: raw.ResizeNearestNeighborGrad(grads=ones(1, 2, 2, 1), size=i32([n, n])),
            "TensorListReserve, %s" % name: lambda n=n: raw.TensorListLength(
                input_handle=raw.TensorListReserve(element_shape=i32([]), num_elements=i32(n), element_dtype=tf.float32)),
            "TensorListResize, %s" % name: lambda n=n: raw.TensorListLength(input_handle=raw.TensorListResize(
                input_handle=raw.EmptyTensorList(element_shape=i32([]), max_num_elements=i32(-1), element_dtype=tf.float32), size=i32(n))),
            "RandomUniform, %s" % name: lambda n=n: raw.RandomUniform(shape=i64([n, n]), dtype=tf.float32),
            "RandomPoissonV2, %s" % name: lambda n=n: raw.RandomPoissonV2(shape=i64([n, n]), rate=h([1, 2])),
            "StatelessRandomUniformV2, %s" % name: lambda n=n: raw.StatelessRandomUniformV2(shape=i64([n, n]), key=h([1], np.uint64), counter=h([1, 2], np.uint64),
                                                                                           alg=i32(1)),
            "Multinomial, %s" % name: lambda n=n: raw.Multinomial(logits=ones(2, 2), num_samples=i32(n)),
            "MatrixDiagV3, %s" % name: lambda n=n: raw.MatrixDiagV3(diagonal=ones(2), k=i32(n), num_rows=i32(n), num_cols=i32(n), padding_value=h(0)),
            "Pad, %s" % name: lambda n=n: raw.Pad(input=ones(2), paddings=i64([[n, n]])),
            "MirrorPad, %s" % name: lambda n=n: raw.MirrorPad(input=ones(2, 2), paddings=i64([[n, 0], [0, n]]), mode="REFLECT"),
            "StringNGrams, %s pad" % name: lambda n=n: raw.StringNGrams(data=strings(["a", "b"]), data_splits=i64([0, 2]), separator="", ngram_widths=[2],
                                                                      left_pad="x", right_pad="y", pad_width=n, preserve_short_sequences=False),
            "AudioSpectrogram, %s stride" % name: lambda n=n: raw.AudioSpectrogram(input=ones(100, 1), window_size=abs(n), stride=abs(n)),
            "EncodeWav, %s rate" % name: lambda n=n: raw.EncodeWav(audio=ones(100, 2), sample_rate=i32(n)),
        })
    return found


def indices():
    found = {}
    for name, i in {"negative": -7, "outside": 7, "largest": MAX32}.items():
        found.update({
            "Gather, %s" % name: lambda i=i: raw.GatherV2(params=ones(3), indices=i32([i]), axis=i32(0)),
            "GatherNd, %s" % name: lambda i=i: raw.GatherNd(params=ones(3, 3), indices=i32([[i, i]])),
            "Gather axis, %s" % name: lambda i=i: raw.GatherV2(params=ones(3), indices=i32([0]), axis=i32(i)),
            "DynamicStitch, %s" % name: lambda i=i: raw.DynamicStitch(indices=[i32([0]), i32([i])], data=[ones(1), ones(1)]),
            "DynamicPartition, %s" % name: lambda i=i: raw.DynamicPartition(data=ones(2), partitions=i32([0, i]), num_partitions=2)[0],
            "SegmentSum, %s" % name: lambda i=i: raw.SegmentSum(data=ones(2, 2), segment_ids=i32([0, i])),
            "SparseSegmentMean, %s" % name: lambda i=i: raw.SparseSegmentMean(data=ones(3, 2), indices=i32([0, i]), segment_ids=i32([0, i])),
            "SparseSegmentMeanGrad, %s" % name: lambda i=i: raw.SparseSegmentMeanGrad(grad=ones(1, 2), indices=i32([i]), segment_ids=i32([i]), output_dim0=i32(i)),
            "Concat axis, %s" % name: lambda i=i: raw.ConcatV2(values=[ones(2), ones(2)], axis=i32(i)),
            "Split axis, %s" % name: lambda i=i: raw.Split(axis=i32(i), value=ones(4), num_split=2)[0],
            "Reverse, %s" % name: lambda i=i: raw.ReverseV2(tensor=ones(2, 2), axis=i32([i])),
            "Transpose, %s" % name: lambda i=i: raw.Transpose(x=ones(2, 2), perm=i32([0, i])),
            "InvertPermutation, %s" % name: lambda i=i: raw.InvertPermutation(x=i32([0, i])),
            "ReverseSequence, %s" % name: lambda i=i: raw.ReverseSequence(input=ones(2, 3), seq_lengths=i64([1, i]), seq_dim=1, batch_dim=0),
            "Cumsum, %s" % name: lambda i=i: raw.Cumsum(x=ones(3), axis=i32(i)),
            "ArgMax, %s" % name: lambda i=i: raw.ArgMax(input=ones(3), dimension=i32(i)),
            "TopKV2, %s" % name: lambda i=i: raw.TopKV2(input=ones(3), k=i32(i))[0],
            "InTopKV2, %s" % name: lambda i=i: raw.InTopKV2(predictions=ones(2, 3), targets=i32([0, i]), k=i32(i)),
            "SparseSoftmaxCrossEntropyWithLogits, %s" % name: lambda i=i: raw.SparseSoftmaxCrossEntropyWithLogits(features=ones(2, 3), labels=i32([0, i]))[0],
            "CTCGreedyDecoder, %s" % name: lambda i=i: raw.CTCGreedyDecoder(inputs=ones(2, 1, 3), sequence_length=i32([i]))[0],
            "TensorListGetItem, %s" % name: lambda i=i: raw.TensorListGetItem(
                input_handle=raw.TensorListFromTensor(tensor=ones(2, 2), element_shape=i32([2])), index=i32(i), element_shape=i32([2]), element_dtype=tf.float32),
            "TensorListScatterV2, %s" % name: lambda i=i: raw.TensorListLength(input_handle=raw.TensorListScatterV2(
                tensor=ones(1, 2), indices=i32([i]), element_shape=i32([2]), num_elements=i32(-1))),
            "TensorListSplit, %s" % name: lambda i=i: raw.TensorListLength(input_handle=raw.TensorListSplit(
                tensor=ones(4), element_shape=i32([]), lengths=i64([i, 1]))),
            "Substr, %s" % name: lambda i=i: raw.Substr(input=strings("abc"), pos=i32(i), len=i32(i)),
            "StridedSlice, %s" % name: lambda i=i: raw.StridedSlice(input=ones(3), begin=i32([i]), end=i32([-i]), strides=i32([i])),
            "MatrixBandPart, %s" % name: lambda i=i: raw.MatrixBandPart(input=ones(2, 2), num_lower=i64(i), num_upper=i64(i)),
            "MatrixDiagPartV3, %s" % name: lambda i=i: raw.MatrixDiagPartV3(input=ones(2, 2), k=i32([i, i]), padding_value=h(0)),
            "LearnedUnigramCandidateSampler, %s" % name: lambda i=i: raw.LearnedUnigramCandidateSampler(
                true_classes=i64([[i]]), num_true=1, num_sampled=2, unique=True, range_max=3)[0],
        })
    return found


def splits():
    """Ragged tensors whose splits are no splits."""
    found = {}
    for name, s in {"descending": [0, 3, 1], "negative": [-1, 2, 3], "outside": [0, 2, 99], "late": [2, 3, 3], "empty": [], "huge": [0, 1, MAX64]}.items():
        found.update({
            "RaggedTensorToSparse, %s" % name: lambda s=s: raw.RaggedTensorToSparse(rt_nested_splits=[i64(s)], rt_dense_values=ones(3))[0],
            "RaggedTensorToTensor, %s" % name: lambda s=s: raw.RaggedTensorToTensor(
                shape=i64([-1, -1]), values=ones(3), default_value=h(0), row_partition_tensors=[i64(s)], row_partition_types=["ROW_SPLITS"]),
            "RaggedTensorToTensor of ids, %s" % name: lambda s=s: raw.RaggedTensorToTensor(
                shape=i64([-1, -1]), values=ones(3), default_value=h(0), row_partition_tensors=[i64(2), i64(s)],
                row_partition_types=["FIRST_DIM_SIZE", "VALUE_ROWIDS"]),
            "RaggedTensorToVariant, %s" % name: lambda s=s: tf.shape(raw.RaggedTensorToVariant(
                rt_nested_splits=[i64(s)], rt_dense_values=ones(3), batched_input=True)),
            "RaggedGather, %s" % name: lambda s=s: raw.RaggedGather(params_nested_splits=[i64(s)], params_dense_values=ones(3), indices=i64([0, 1]),
                                                                  OUTPUT_RAGGED_RANK=1)[1],
            "RaggedBincount, %s" % name: lambda s=s: raw.RaggedBincount(splits=i64(s), values=i32([1, 2, 3]), size=i32(5), weights=ones(0)),
            "RaggedCountSparseOutput, %s" % name: lambda s=s: raw.RaggedCountSparseOutput(splits=i64(s), values=i32([1, 2, 3]), weights=ones(0),
                                                                                         binary_output=False)[0],
            "StringNGrams, %s" % name: lambda s=s: raw.StringNGrams(data=strings(["a", "b", "c"]), data_splits=i64(s), separator=" ", ngram_widths=[2],
                                                                  left_pad="", right_pad="", pad_width=0, preserve_short_sequences=True)[0],
            "UnicodeEncode, %s" % name: lambda s=s: raw.UnicodeEncode(input_values=i32([97, -1, MAX32]), input_splits=i64(s), output_encoding="UTF-8"),
        })
    return found


def quantizations():
    """Ranges that are no scalars, and inputs of other shapes."""
    found = {}
    for name, shape in {"vector": (2,), "empty": (0,), "matrix": (2, 2)}.items():
        low, high = lambda shape=shape: h(np.zeros(shape)), lambda shape=shape: ones(*shape)
        found.update({
            "QuantizeV2, %s" % name: lambda a=low, b=high: raw.QuantizeV2(input=ones(2, 2), min_range=a(), max_range=b(), T=tf.quint8)[1],
            "Dequantize, %s" % name: lambda a=low, b=high: raw.Dequantize(input=quantized(2, 2), min_range=a(), max_range=b()),
            "QuantizeAndDequantizeV3, %s" % name: lambda a=low, b=high: raw.QuantizeAndDequantizeV3(input=ones(2, 2), input_min=a(), input_max=b(), num_bits=i32(8)),
            "FakeQuantWithMinMaxVars, %s" % name: lambda a=low, b=high: raw.FakeQuantWithMinMaxVars(inputs=ones(2, 2), min=a(), max=b()),
            "FakeQuantWithMinMaxVarsPerChannel, %s" % name: lambda a=low, b=high: raw.FakeQuantWithMinMaxVarsPerChannel(inputs=ones(2, 3), min=a(), max=b()),
            "Requantize, %s" % name: lambda a=low, b=high: raw.Requantize(
                input=quantized(2, dtype=tf.qint32), input_min=a(), input_max=b(), requested_output_min=a(), requested_output_max=b(), out_type=tf.quint8)[1],
            "QuantizedMatMul, %s" % name: lambda a=low, b=high: raw.QuantizedMatMul(a=quantized(2, 2), b=quantized(2, 2), min_a=a(), max_a=b(), min_b=a(),
                                                                                  max_b=b())[1],
        })
    return found


def shapes():
    """Arguments whose shapes do not fit together."""
    rank = {"scalar": (), "empty": (0,), "cube": (2, 2, 2)}
    found = {}
    for name, s in rank.items():
        x = lambda s=s: ones(*s)  # noqa: E731
        found.update({
            "BiasAddGrad, %s" % name: lambda x=x: raw.BiasAddGrad(out_backprop=x()),
            "LRNGrad, %s" % name: lambda x=x: raw.LRNGrad(input_grads=ones(1, 2, 2, 3), input_image=x(), output_image=ones(1, 2, 2, 3)),
            "FusedBatchNormV3, %s" % name: lambda x=x: raw.FusedBatchNormV3(x=ones(1, 2, 2, 3), scale=x(), offset=x(), mean=x(), variance=x(), is_training=False)[0],
            "FusedBatchNormGradV3, %s" % name: lambda x=x: raw.FusedBatchNormGradV3(
                y_backprop=ones(1, 2, 2, 3), x=ones(1, 2, 2, 3), scale=x(), reserve_space_1=x(), reserve_space_2=x(), reserve_space_3=x())[0],
            "SoftmaxCrossEntropyWithLogits, %s" % name: lambda x=x: raw.SoftmaxCrossEntropyWithLogits(features=ones(2, 3), labels=x())[0],
            "LSTMBlockCell, %s" % name: lambda x=x: raw.LSTMBlockCell(x=ones(1, 2), cs_prev=x(), h_prev=x(), w=x(), wci=x(), wcf=x(), wco=x(), b=x())[0],
            "GRUBlockCell, %s" % name: lambda x=x: raw.GRUBlockCell(x=ones(1, 2), h_prev=x(), w_ru=x(), w_c=x(), b_ru=x(), b_c=x())[3],
            "BlockLSTM, %s" % name: lambda x=x: raw.BlockLSTM(seq_len_max=i64(9), x=ones(2, 1, 2), cs_prev=x(), h_prev=x(), w=x(), wci=x(), wcf=x(), wco=x(), b=x())[0],
            "MatrixSolve, %s" % name: lambda x=x: raw.MatrixSolve(matrix=ones(2, 2), rhs=x()),
            "MatrixTriangularSolve, %s" % name: lambda x=x: raw.MatrixTriangularSolve(matrix=ones(2, 2), rhs=x()),
            "BandedTriangularSolve, %s" % name: lambda x=x: raw.BandedTriangularSolve(matrix=x(), rhs=ones(2, 2)),
            "TridiagonalSolve, %s" % name: lambda x=x: raw.TridiagonalSolve(diagonals=x(), rhs=ones(2, 2)),
            "Svd, %s" % name: lambda x=x: raw.Svd(input=x())[0],
            "Cholesky, %s" % name: lambda x=x: raw.Cholesky(input=x()),
            "AdjustContrastv2, %s" % name: lambda x=x: raw.AdjustContrastv2(images=ones(2, 2, 3), contrast_factor=x()),
            "AdjustHue, %s" % name: lambda x=x: raw.AdjustHue(images=ones(2, 2), delta=x()),
            "ResizeBicubicGrad, %s" % name: lambda x=x: raw.ResizeBicubicGrad(grads=x(), original_image=ones(1, 2, 2, 1)),
            "ExtractImagePatches, %s" % name: lambda x=x: raw.ExtractImagePatches(images=x(), ksizes=[1, 2, 2, 1], strides=[1, 1, 1, 1], rates=[1, 1, 1, 1],
                                                                                padding="VALID"),
            "NonMaxSuppressionV5, %s" % name: lambda x=x: raw.NonMaxSuppressionV5(
                boxes=x(), scores=x(), max_output_size=i32(3), iou_threshold=h(0.5), score_threshold=h(0), soft_nms_sigma=h(1))[0],
            "ImageProjectiveTransformV3, %s" % name: lambda x=x: raw.ImageProjectiveTransformV3(
                images=ones(1, 2, 2, 1), transforms=x(), output_shape=i32([2, 2]), fill_value=h(0), interpolation="NEAREST"),
            "Mfcc, %s" % name: lambda x=x: raw.Mfcc(spectrogram=x(), sample_rate=i32(0)),
            "Where, %s" % name: lambda x=x: raw.SelectV2(condition=h(np.ones((3, 1)), bool), t=x(), e=x()),
            "SparseApply of indices, %s" % name: lambda x=x: raw.SparseTensorDenseMatMul(a_indices=i64([[0, 5]]), a_values=ones(1), a_shape=i64([2, 2]), b=x()),
            "DecodeRaw, %s" % name: lambda x=x: raw.DecodePaddedRaw(input_bytes=strings(["abc"]), fixed_length=i32(-3), out_type=tf.float32),
            "RestoreV2 of slices, %s" % name: lambda x=x: raw.RestoreV2(prefix=strings("nothing"), tensor_names=strings(["a", "b"]),
                                                                      shape_and_slices=strings(["9 9 0,99:-5,-"]), dtypes=[tf.float32, tf.float32])[0],
            "CollectiveGather, %s" % name: lambda x=x: raw.CollectiveGather(input=x(), group_size=1, group_key=1, instance_key=1, shape=[7, 7]),
            "TensorListConcatV2, %s" % name: lambda x=x: raw.TensorListConcatV2(
                input_handle=raw.TensorListFromTensor(tensor=x(), element_shape=i32([])), element_shape=i32(-1), leading_dims=i64([]), element_dtype=tf.float32)[0],
            "TensorListPushBack of no list, %s" % name: lambda x=x: raw.TensorListLength(input_handle=raw.TensorListPushBack(
                input_handle=raw.OptionalNone(), tensor=x())),
            "DeleteSessionTensor, %s" % name: lambda x=x: raw.GetSessionTensor(handle=strings(["a", "b"]), dtype=tf.float32),
        })
    return found


def everything():
    """Functions that make a tensor, by name."""
    return {**convolutions(), **pools(), **sizes(), **indices(), **splits(), **quantizations(), **shapes()}


# Parts of names of inputs that must be rejected.
REJECTED = ["Fill, ", "Tile, huge", "GatherNd, ", "Gather axis, ", "OneHot, negative", "UnsortedSegmentSum, negative", "RaggedTensorToSparse, negative",
            "RaggedTensorToSparse, outside", "MaxPoolGradWithArgmax, outside", "Conv2DBackpropInput, huge size", "Conv2DBackpropInput, negative size",
            "FakeQuantWithMinMaxVars, ", "StringNGrams, outside"]
