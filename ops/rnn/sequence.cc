// Ops on sequences: reversal, edit distance, and connectionist temporal classification (CTC).
//
// Reference: Graves et al., "Connectionist temporal classification" (2006).
#include <algorithm>

#include "ops/op.h"

#ifndef SLUICE_DEFINITIONS_ONLY
#include "ops/gradient_nodes.h"
#endif

namespace sluice {
namespace {

OP(CTCBeamSearchDecoder,
   "Finds the top_paths most probable label sequences of each sequence of logits [time, batch, "
   "classes]. Returns them as sparse matrices, and the logarithms of their probabilities. The last "
   "class is the blank. merge_repeated merges equal labels of a path.")
    .Input("inputs", "T")
    .Input("sequence_length", DT_INT32)
    .Output("decoded_indices", "top_paths*int64")
    .Output("decoded_values", "top_paths*int64")
    .Output("decoded_shape", "top_paths*int64")
    .Output("log_probability", "T")
    .Attr("beam_width", IntAttr().Min(1))
    .Attr("top_paths", IntAttr().Min(1))
    .Attr("merge_repeated", BoolAttr(true))
    .Attr("T", TypeAttr(TypeSet{DT_FLOAT, DT_DOUBLE}, DT_FLOAT))
    .NotDifferentiable()
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape inputs, c.WithRank(0, 3));
      SLUICE_ASSIGN_OR_RETURN(PartialShape lengths, c.WithRank(1, 1));
      SLUICE_ASSIGN_OR_RETURN(const int64_t batch, MergeDim(inputs.dim(1), lengths.dim(0)));
      const auto paths = static_cast<int>(c.attr<int64_t>("top_paths"));
      for (int i = 0; i < paths; ++i) {
        c.SetOutput(i, {-1, 2}).IgnoreError();
        c.SetOutput(paths + i, {-1}).IgnoreError();
        c.SetOutput(2 * paths + i, {2}).IgnoreError();
      }
      return c.SetOutput(3 * paths, {batch, paths});
    });

OP(CTCGreedyDecoder,
   "Returns the most probable class of each step as a sparse tensor, without blanks and with "
   "repeats merged, and the negative sum of the greatest logits.")
    .Input("inputs", "T")
    .Input("sequence_length", DT_INT32)
    .Output("decoded_indices", DT_INT64)
    .Output("decoded_values", DT_INT64)
    .Output("decoded_shape", DT_INT64)
    .Output("log_probability", "T")
    .Attr("merge_repeated", BoolAttr(false))
    .Attr("blank_index", IntAttr(-1))
    .Attr("T", TypeAttr(TypeSet{DT_FLOAT, DT_DOUBLE}, DT_FLOAT))
    .NotDifferentiable()
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape inputs, c.WithRank(0, 3));
      SLUICE_ASSIGN_OR_RETURN(PartialShape lengths, c.WithRank(1, 1));
      SLUICE_ASSIGN_OR_RETURN(const int64_t batch, MergeDim(inputs.dim(1), lengths.dim(0)));
      c.SetOutput(0, {-1, 2}).IgnoreError();
      c.SetOutput(1, {-1}).IgnoreError();
      c.SetOutput(2, {2}).IgnoreError();
      return c.SetOutput(3, {batch, 1});
    });

OP(CTCLoss,
   "Computes the negative logarithm of the probability of the labels in any alignment, and its "
   "gradient with respect to the logits [time, batch, classes]. The last class is the blank.")
    .Input("inputs", "T")
    .Input("labels_indices", DT_INT64)
    .Input("labels_values", DT_INT32)
    .Input("sequence_length", DT_INT32)
    .Output("loss", "T")
    .Output("gradient", "T")
    .Attr("preprocess_collapse_repeated", BoolAttr(false))
    .Attr("ctc_merge_repeated", BoolAttr(true))
    .Attr("ignore_longer_outputs_than_inputs", BoolAttr(false))
    .Attr("T", TypeAttr(TypeSet{DT_FLOAT, DT_DOUBLE}, DT_FLOAT))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape inputs, c.WithRank(0, 3));
      SLUICE_ASSIGN_OR_RETURN(PartialShape indices, c.WithRank(1, 2));
      SLUICE_ASSIGN_OR_RETURN(PartialShape labels, c.WithRank(2, 1));
      SLUICE_ASSIGN_OR_RETURN(PartialShape lengths, c.WithRank(3, 1));
      SLUICE_RETURN_IF_ERROR(MergeDim(indices.dim(0), labels.dim(0)).status());
      SLUICE_ASSIGN_OR_RETURN(const int64_t batch, MergeDim(inputs.dim(1), lengths.dim(0)));
      if (inputs.rank_known()) inputs.set_dim(1, batch);
      c.SetOutput(0, {batch}).IgnoreError();
      return c.SetOutput(1, inputs);
    }) GRADIENT([](Backprop& b) {
      Output gradient = PreventGradient(
          b.Value("gradient"), {.message = "Currently there is no way to take the second "
                                           "derivative of ctc_loss due to the fused "
                                           "implementation's interaction with tf.gradients()"});
      b.Into("inputs", ExpandDims(b.Of("loss"), -1) * gradient);
    });

OP(EditDistance,
   "Computes the Levenshtein distance of each sequence (the last dimension of sparse tensors) to "
   "its truth. `normalize` divides it by the length of the truth.")
    .Input("hypothesis_indices", DT_INT64)
    .Input("hypothesis_values", "T")
    .Input("hypothesis_shape", DT_INT64)
    .Input("truth_indices", DT_INT64)
    .Input("truth_values", "T")
    .Input("truth_shape", DT_INT64)
    .Output("output", DT_FLOAT)
    .Attr("normalize", BoolAttr(true))
    .Attr("T", TypeAttr())
    .NotDifferentiable()
    .Shape([](ShapeContext& c) -> absl::Status {
      for (int i : {0, 3}) SLUICE_RETURN_IF_ERROR(c.WithRank(i, 2).status());
      for (int i : {1, 2, 4, 5}) SLUICE_RETURN_IF_ERROR(c.WithRank(i, 1).status());
      std::optional<Tensor> hypothesis = c.InputValue(2), truth = c.InputValue(5);
      if (!hypothesis || !truth) return c.SetOutput(0, PartialShape::UnknownRank());
      SLUICE_INVALID_IF(
          hypothesis->num_elements() != truth->num_elements(),
          "Expected truth and hypothesis to have matching ranks, but their shapes are: [",
          truth->num_elements(), "] and [", hypothesis->num_elements(), "]");
      PartialShape out = PartialShape::Scalar();
      for (int64_t i = 0; i + 1 < truth->num_elements(); ++i) {
        out.AddDim(std::max(hypothesis->data<int64_t>()[i], truth->data<int64_t>()[i]));
      }
      return c.SetOutput(0, out);
    });

OP(ReverseSequence,
   "Reverses the first seq_lengths[i] elements along seq_dim of batch element i, and keeps the "
   "others.")
    .Input("input", "T")
    .Input("seq_lengths", "Tlen")
    .Output("output", "T")
    .Attr("seq_dim", IntAttr())
    .Attr("batch_dim", IntAttr(0))
    .Attr("T", TypeAttr())
    .Attr("Tlen", TypeAttr(IndexTypes(), DT_INT64))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape lengths, c.WithRank(1, 1));
      PartialShape in = c.input(0);
      if (!in.rank_known()) return c.SetOutput(0, in);
      const int64_t batch = c.attr<int64_t>("batch_dim"), sequence = c.attr<int64_t>("seq_dim");
      SLUICE_INVALID_IF(batch >= in.rank(), "batch_dim must be < input rank: ", batch, " vs. ",
                        in.rank());
      SLUICE_INVALID_IF(sequence >= in.rank(), "seq_dim must be < input rank: ", sequence, " vs. ",
                        in.rank());
      if (batch < 0 || sequence < 0) return c.SetOutput(0, in);
      const int d = static_cast<int>(batch);
      SLUICE_ASSIGN_OR_RETURN(const int64_t size, MergeDim(in.dim(d), lengths.dim(0)));
      in.set_dim(d, size);
      return c.SetOutput(0, in);
    }) GRADIENT([](Backprop& b) {
      b.Into("input", Sibling(b, "ReverseSequence", {b.Of("output"), b.Value("seq_lengths")}));
    });

}  // namespace
}  // namespace sluice
