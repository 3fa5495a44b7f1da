// Samples of classes for losses over many classes: noise-contrastive estimation, sampled softmax.
//
// Beside the samples an op says how often it expects each sampled and each true class to be drawn.
#include "ops/op.h"

namespace sluice {
namespace {

absl::Status SamplerShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(PartialShape classes, c.WithRank(0, 2));
  const int64_t samples = c.attr<int64_t>("num_sampled");
  c.SetOutput(0, {samples}).IgnoreError();
  c.SetOutput(1, {classes.dim(0), c.attr<int64_t>("num_true")}).IgnoreError();
  return c.SetOutput(2, {samples});
}

OP(AllCandidateSampler, "All classes, 0 to num_sampled - 1.")
    .Input("true_classes", DT_INT64)
    .Output("sampled_candidates", DT_INT64)
    .Output("true_expected_count", DT_FLOAT)
    .Output("sampled_expected_count", DT_FLOAT)
    .Attr("num_true", IntAttr().Min(1))
    .Attr("num_sampled", IntAttr().Min(1))
    .Attr("unique", BoolAttr())
    .Attr("seed", IntAttr(0))
    .Attr("seed2", IntAttr(0))
    .Stateful()
    .Shape(SamplerShape);

OP(ComputeAccidentalHits,
   "Where a sampled class is a true one: the row, the sample's place, and a weight of "
   "the lowest float.")
    .Input("true_classes", DT_INT64)
    .Input("sampled_candidates", DT_INT64)
    .Output("indices", DT_INT32)
    .Output("ids", DT_INT64)
    .Output("weights", DT_FLOAT)
    .Attr("num_true", IntAttr())
    .Attr("seed", IntAttr(0))
    .Attr("seed2", IntAttr(0))
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape classes, c.WithRank(0, 2));
      SLUICE_RETURN_IF_ERROR(MergeDim(classes.dim(1), c.attr<int64_t>("num_true")).status());
      return c.SetOutputs({-1});
    });

OP(FixedUnigramCandidateSampler,
   "Classes with probabilities in proportion to given weights (from a file, whose "
   "lines end in a weight, or from `unigrams`) to the power of `distortion`.")
    .Input("true_classes", DT_INT64)
    .Output("sampled_candidates", DT_INT64)
    .Output("true_expected_count", DT_FLOAT)
    .Output("sampled_expected_count", DT_FLOAT)
    .Attr("num_true", IntAttr().Min(1))
    .Attr("num_sampled", IntAttr().Min(1))
    .Attr("unique", BoolAttr())
    .Attr("range_max", IntAttr().Min(1))
    .Attr("vocab_file", StringAttr(""))
    .Attr("distortion", FloatAttr(1.0f))
    .Attr("num_reserved_ids", IntAttr(0))
    .Attr("num_shards", IntAttr(1).Min(1))
    .Attr("shard", IntAttr(0).Min(0))
    .Attr("unigrams", FloatListAttr({}))
    .Attr("seed", IntAttr(0))
    .Attr("seed2", IntAttr(0))
    .Stateful()
    .Shape(SamplerShape);

OP(LearnedUnigramCandidateSampler,
   "Classes with probabilities in proportion to how often they were true classes of "
   "earlier calls, plus one.")
    .Input("true_classes", DT_INT64)
    .Output("sampled_candidates", DT_INT64)
    .Output("true_expected_count", DT_FLOAT)
    .Output("sampled_expected_count", DT_FLOAT)
    .Attr("num_true", IntAttr().Min(1))
    .Attr("num_sampled", IntAttr().Min(1))
    .Attr("unique", BoolAttr())
    .Attr("range_max", IntAttr().Min(1))
    .Attr("seed", IntAttr(0))
    .Attr("seed2", IntAttr(0))
    .Stateful()
    .Shape(SamplerShape);

OP(LogUniformCandidateSampler,
   "Classes with probability log((k + 2) / (k + 1)) / log(range_max + 1): Zipf's law, for "
   "classes in order of frequency.")
    .Input("true_classes", DT_INT64)
    .Output("sampled_candidates", DT_INT64)
    .Output("true_expected_count", DT_FLOAT)
    .Output("sampled_expected_count", DT_FLOAT)
    .Attr("num_true", IntAttr().Min(1))
    .Attr("num_sampled", IntAttr().Min(1))
    .Attr("unique", BoolAttr())
    .Attr("range_max", IntAttr().Min(1))
    .Attr("seed", IntAttr(0))
    .Attr("seed2", IntAttr(0))
    .Stateful()
    .Shape(SamplerShape);

OP(ThreadUnsafeUnigramCandidateSampler,
   "LearnedUnigramCandidateSampler without a lock there; here it is the same.")
    .Input("true_classes", DT_INT64)
    .Output("sampled_candidates", DT_INT64)
    .Output("true_expected_count", DT_FLOAT)
    .Output("sampled_expected_count", DT_FLOAT)
    .Attr("num_true", IntAttr().Min(1))
    .Attr("num_sampled", IntAttr().Min(1))
    .Attr("unique", BoolAttr())
    .Attr("range_max", IntAttr().Min(1))
    .Attr("seed", IntAttr(0))
    .Attr("seed2", IntAttr(0))
    .Stateful()
    .Shape(SamplerShape);

OP(UniformCandidateSampler, "Classes 0 to range_max - 1, all equally often.")
    .Input("true_classes", DT_INT64)
    .Output("sampled_candidates", DT_INT64)
    .Output("true_expected_count", DT_FLOAT)
    .Output("sampled_expected_count", DT_FLOAT)
    .Attr("num_true", IntAttr().Min(1))
    .Attr("num_sampled", IntAttr().Min(1))
    .Attr("unique", BoolAttr())
    .Attr("range_max", IntAttr().Min(1))
    .Attr("seed", IntAttr(0))
    .Attr("seed2", IntAttr(0))
    .Stateful()
    .Shape(SamplerShape);

}  // namespace
}  // namespace sluice
