// Word vectors (Mikolov et al. 2013).
#include "demos/models/data.h"
#include "demos/models/model.h"
#include "graph/status.h"
#include "training/layers/losses.h"
#include "training/layers/sampled_loss.h"

namespace sluice::demos {
namespace {

constexpr int64_t kWordBatch = 32, kWords = 300, kWordSize = 16, kSampled = 20;

struct Parts {
  Output words, neighbours, vectors;
  Variable weights, biases;
  int64_t sampler_seed;
};

Parts MakeParts(Graph& g) {
  Seeds seeds;
  Parts p;
  p.words = Placeholder(g, DT_INT32, {kWordBatch}, "words");
  p.neighbours = Placeholder(g, DT_INT64, {kWordBatch, 1}, "neighbours");
  Variable table(g, "embedding", {kWords, kWordSize}, seeds.Uniform(1));
  p.weights = Variable(g, "weights", {kWords, kWordSize}, seeds.Normal(0.25));
  p.biases = Variable(g, "biases", {kWords}, Zeros());
  p.vectors = Gather(table, p.words);
  p.sampler_seed = seeds.Next();
  return p;
}

absl::StatusOr<Model> Trained(Graph& g, const Parts& p, Output each, Optimizer& optimizer) {
  SLUICE_ASSIGN_OR_RETURN(const std::vector<int32_t> text, LicenceWords(kWords));
  const Output loss = ReduceMean(each);
  const Operation train = optimizer.Minimize(loss);
  if (!g.status().ok()) return g.status();
  return Model{
      {loss}, train, [text, words = p.words, neighbours = p.neighbours](int64_t step) -> Batch {
        const WordBatch made = SkipGrams(text, step, kWordBatch);
        return {{words, made.words}, {neighbours, made.neighbours}};
      }};
}

}  // namespace

absl::StatusOr<Model> Word2VecNce(Graph& g) {
  const Parts p = MakeParts(g);
  const auto [seed, seed2] = SeedsFor(g, p.sampler_seed);
  const auto sample = LogUniformCandidateSampler(p.neighbours, 1, kSampled, true, kWords,
                                                 {.seed = seed, .seed2 = seed2});
  const Output each = losses::Nce(
      p.weights, p.biases, p.neighbours, p.vectors,
      {sample.sampled_candidates, sample.true_expected_count, sample.sampled_expected_count});
  GradientDescent optimizer({.learning_rate = 0.5f});
  return Trained(g, p, each, optimizer);
}

absl::StatusOr<Model> Word2VecSampledSoftmax(Graph& g) {
  const Parts p = MakeParts(g);
  const auto [seed, seed2] = SeedsFor(g, p.sampler_seed);
  const auto sample = LearnedUnigramCandidateSampler(p.neighbours, 1, kSampled, true, kWords,
                                                     {.seed = seed, .seed2 = seed2});
  const Output each = losses::SampledSoftmax(
      p.weights, p.biases, p.neighbours, p.vectors,
      {sample.sampled_candidates, sample.true_expected_count, sample.sampled_expected_count});
  Adagrad optimizer({.learning_rate = 0.3f});
  return Trained(g, p, each, optimizer);
}

}  // namespace sluice::demos
