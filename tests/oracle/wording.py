"""Key phrases of TensorFlow's error messages, which ours contain: programs match them.

The key phrase is the longest piece of a message between its variable parts (names, numbers, shapes,
types) and the ends of its sentences.
"""

import re

# The text that TensorFlow adds around the kernel's message: the place of the failure and its nodes.
AROUND = re.compile(
    r"^\w+(Error|Exception):\s|^Graph execution error:\s+|(Detected at node .*?\n)?Node: '[^']*'\n|"
    r"Detected at node .*?\n|(Collective ops is aborted by:\s)+|^[\w/.]+\.(h|cc):\d+\s", re.DOTALL | re.MULTILINE)
AFTER = re.compile(r"( for '\{\{node |\s*\[\[|\nOriginal stack trace|\nAdditional GRPC).*", re.DOTALL)
VARIABLE = re.compile(r"""
    \{\{[^}]*\}\} | '[^'\n]*' | "[^"\n]*" | `[^`]*` | \b\w*<[^<>\n]*>\S*  # nodes, names, values
  | \S*\[[^\[\]]*\]\S* | \S*\d\S* | \S*/\S* | \bDT_\w+                    # shapes, numbers, paths, types
  | \b(float|double|string|bool|half|resource|variant)\b
""", re.VERBOSE)
ENDS = re.compile(r"(?<=[.;:?!])\s+|\n")

# Messages of ours that deliberately lack TensorFlow's phrase: the reason, and the beginnings of the
# phrases by op ("": of all ops).
EXCEPT = (
    ("TensorFlow names the container until something was made in it; ours names the resource", {
        "": ("Container localhost does not exist", "container=localhost, status error message=Container")}),
    ("ours names the mistake, TensorFlow's text is about its own code", {
        "TruncateDiv": ("Unexpected error in binary operator",), "TruncateMod": ("Unexpected error in binary operator",),
        "_Arg": ("is not within",), "_Retval": ("is not within",),
        "PartitionedCall": ("InstantiateOptions",), "StatefulPartitionedCall": ("InstantiateOptions",),
        "ParseSingleExample": ("Some float_list slice was not parsed",), "UnicodeEncode": ("Negative dimension size",),
        "ParseSingleSequenceExample": ("codec can't decode",), "DeserializeSparse": ("Could not parse serialized proto",),
        "Mfcc": ("Mfcc initialization failed",), "RaggedTensorToSparse": ("Final value of ragged splits",)}),
    ("TensorFlow's text names another argument or rule than the violated one", {
        "AvgPoolGrad": ("out_backprop must be", "index * stride"), "AvgPool3DGrad": ("tensor_in must be",),
        "AvgPool": ("tensor_in_shape must have",), "MaxPool": ("tensor_in_shape must have",),
        "QuantizedAvgPool": ("tensor_in_shape must have",), "QuantizedMaxPool": ("tensor_in_shape must have",),
        "QuantizedMul": ("max_x must be larger than min_", "min_x must be", "max_x must be a", "min_y must be", "max_y must be a"),
        "ScaleAndTranslate": ("t must have two",), "Conv3DBackpropInputV2": ("input tensor must have",),
        "QuantizeAndDequantizeV2": ("Shape must be", "input_min must be a scalar"),
        "SparseSegmentMeanWithNumSegments": ("segment ids must be >",), "SparseSegmentSumWithNumSegments": ("segment ids must be >",),
        "SparseSegmentSqrtNWithNumSegments": ("segment ids must be >",), "GatherV2": ("Shape must be at least rank",)}),
    ("TensorFlow's text lacks a space between two sentences", {
        "SparseCountSparseOutput": ("Number of values must match", "Number of dimensions must match")}),
    ("TensorFlow cannot run the op without static ranks; ours finds the mistake that the case is about", {
        "SpaceToBatchND": ("block_shape must have rank",), "BatchToSpaceND": ("block_shape must have rank",)}),
    ("the op decodes fewer formats than TensorFlow's", {
        **dict.fromkeys(("DecodeImage", "DecodePng", "DecodeGif", "DecodeWebP"), ("One of JPEG",)),
        "DecodeCompressed": ("Only ZLIB, ZSTD",)}),
    ("TensorFlow repeats the error of the member that failed first, whichever it is", {
        "CollectiveReduce": ("",), "CollectiveReduceV2": ("",), "CollectiveGatherV2": ("",), "CollectiveBcastSendV2": ("",)}),
    ("TensorFlow names the dataset and its iterators around the function's error", {
        **dict.fromkeys(("IgnoreErrorsDataset", "IteratorGetNextAsOptional", "LegacyParallelInterleaveDatasetV2", "SerializeIterator", "WindowDataset"), ("Error in user-defined function",))}),
    ("TensorFlow adds a hint that does not apply: the iterator is uninitialized", {
        "SerializeIterator": ("Make sure the dataset definition has not changed",)}),
    ("another check fails first, in the shape function or in the kernel", {
        "BatchMatrixDiagPart": ("input must be at least",), "BatchMatrixDiag": ("diagonal must be at least",),
        "Conv": ("excluding extra batch", "Stride attribute should", "Sliding window strides"),
        "Conv2D": ("on data format",), "QuantizedConv2D": ("on data format",), "Conv2DBackpropInput": ("Dimensions must be equal",),
        "Conv3D": ("is not a multiple of input depth", "Input depth must be"), "Conv3DBackpropFilterV2": ("filter_sizes tensor",),
        "DecodePaddedRaw": ("Input must be scalar",), "DrawBoundingBoxes": ("Shape must be rank", "Dimension must be"),
        "EditDistance": ("Number of elements in index",), "FractionalAvgPoolGrad": ("original input tensor shape must",),
        "ImageProjectiveTransformV2": ("Input transform should",), "ImageProjectiveTransformV3": ("Input transform should",),
        "MapDefun": ("All inputs must have rank",), "ParseSequenceExample": ("is not consistent with output shape",),
        "ParseSequenceExampleV2": ("is not consistent with output shape",), "ReverseSequence": ("seq_dim must be <",),
        "SoftmaxCrossEntropyWithLogits": ("Shape must be broadcasted",), "SparseReorder": ("Number of elements in indices",),
        "SparseSegmentMeanWithNumSegments": ("Cannot specify a negative",),
        "SparseSegmentSumWithNumSegments": ("Cannot specify a negative",),
        "SparseSegmentSqrtNWithNumSegments": ("Cannot specify a negative",),
        "StatelessRandomBinomial": ("counts and probs must have",), "StatelessRandomUniformInt": ("minval must be a scalar",),
        "Substr": ("pos and len shapes must match",), "TridiagonalMatMul": ("in both shapes must be equal",),
        "UniqueWithCounts": ("unique expects a",), "FixedLengthRecordReaderV2": ("reached end of file",),
        "_ReadVariablesOp": ("In ReadVariablesOp",), "_VarHandlesOp": ("In ReadVariablesOp",)}),
    ("one check serves several ops, whose texts differ in TensorFlow", {
        "Empty": ("shape must be a vector of",), "Dequantize": ("input_min_tensor must have",),
        "FakeQuantWithMinMaxArgsGradient": ("of type FakeQuant",), "QuantizeV2": ("If axis is not specified", "tensor whose size"),
        "GRUBlockCell": ("cell_size *",), "LSTMBlockCell": ("input_size + cell_size",),
        "ResourceSparseApplyKerasMomentum": ("is not in",)}),
)


def key_phrase(message):
    """The key phrase, with single spaces; "" if the message has none."""
    text = AFTER.sub("", AROUND.sub("", message))
    pieces = [piece for part in VARIABLE.sub("\0", text).split("\0") for piece in ENDS.split(part)]
    pieces = [" ".join(piece.split()).strip(" .,:;()=-!?") for piece in pieces]
    return max(pieces, key=len)


def contains(message, phrase):
    return phrase in " ".join(message.split())


def exempts(op, phrase):
    """The reason why our messages for `op` lack the phrase, or None."""
    return next((reason for reason, phrases in EXCEPT for start in phrases.get(op, ()) + phrases.get("", ())
                 if phrase.startswith(start)), None)
