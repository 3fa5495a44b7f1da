// Ops that sample classes for losses over many classes, such as noise-contrastive estimation and
// sampled softmax.
//
// An op also returns the expected number of draws of each sampled and each true class.
#include "graph/infer/expect_size.h"
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

void Seeds(OpDefBuilder& op) { op.Attr("seed", IntAttr(0)).Attr("seed2", IntAttr(0)); }

void SamplesClasses(OpDefBuilder& op) {
  op.Input("true_classes", DT_INT64)
      .Output("sampled_candidates", DT_INT64)
      .Output("true_expected_count", DT_FLOAT)
      .Output("sampled_expected_count", DT_FLOAT)
      .Attr("num_true", IntAttr().Min(1))
      .Attr("num_sampled", IntAttr().Min(1))
      .Attr("unique", BoolAttr())
      .Stateful()
      .Shape(SamplerShape);
}

// Declares an op that samples from the classes 0 to range_max - 1.
void SamplesOfRange(OpDefBuilder& op) {
  op.With(SamplesClasses).Attr("range_max", IntAttr().Min(1)).With(Seeds);
}

OP(AllCandidateSampler, "Returns all classes, 0 to num_sampled - 1.")
    .With(SamplesClasses)
    .With(Seeds);

OP(ComputeAccidentalHits,
   "Finds the sampled classes that are true classes. Returns the row of the true class, the "
   "position of the sample, and the lowest float as its weight.")
    .Input("true_classes", DT_INT64)
    .Input("sampled_candidates", DT_INT64)
    .Output("indices", DT_INT32)
    .Output("ids", DT_INT64)
    .Output("weights", DT_FLOAT)
    .Attr("num_true", IntAttr())
    .With(Seeds)
    .Shape([](ShapeContext& c) -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(PartialShape classes, c.WithRank(0, 2));
      SLUICE_RETURN_IF_ERROR(ExpectSize(classes.dim(1), c.attr<int64_t>("num_true")));
      SLUICE_RETURN_IF_ERROR(c.WithRank(1, 1).status());
      return c.SetOutputs({-1});
    });

OP(FixedUnigramCandidateSampler,
   "Samples classes with probabilities proportional to given weights to the power of `distortion`. "
   "The weights are the last fields of the lines of a file, or `unigrams`.")
    .With(SamplesClasses)
    .Attr("range_max", IntAttr().Min(1))
    .Attr("vocab_file", StringAttr(""))
    .Attr("distortion", FloatAttr(1.0f))
    .Attr("num_reserved_ids", IntAttr(0))
    .Attr("num_shards", IntAttr(1).Min(1))
    .Attr("shard", IntAttr(0).Min(0))
    .Attr("unigrams", FloatListAttr({}))
    .With(Seeds);

OP(LearnedUnigramCandidateSampler,
   "Samples classes with probabilities proportional to one plus the number of times they were true "
   "classes of earlier calls.")
    .With(SamplesOfRange);

OP(LogUniformCandidateSampler,
   "Samples classes with probability log((k + 2) / (k + 1)) / log(range_max + 1). This is Zipf's "
   "law for classes in descending order of frequency.")
    .With(SamplesOfRange);

OP(ThreadUnsafeUnigramCandidateSampler,
   "Samples as LearnedUnigramCandidateSampler does. In TensorFlow, it has no lock.")
    .With(SamplesOfRange);

OP(UniformCandidateSampler, "Samples the classes 0 to range_max - 1 with equal probabilities.")
    .With(SamplesOfRange);

}  // namespace
}  // namespace sluice
