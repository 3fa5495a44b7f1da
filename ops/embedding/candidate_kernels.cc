#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <sstream>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "executor/files/files.h"
#include "executor/kernel/scratch.h"
#include "graph/shared_mutex.h"
#include "graph/tensor/room.h"
#include "graph/tensor/sizes.h"
#include "ops/random/class_sampler.h"
#include "ops/state/wait.h"

namespace sluice {
namespace {

// Returns the expected count of a class with probability p among the samples. `tries` is the number
// of draws. If it exceeds `samples`, draws were repeated until all samples were distinct.
float ExpectedCount(float p, int64_t samples, int64_t tries) {
  if (tries == samples) return p * static_cast<float>(samples);
  return -std::expm1(static_cast<float>(tries) * std::log1p(-p));
}

absl::Status CheckClasses(const Tensor& classes, int64_t range) {
  for (int64_t value : classes.flat<int64_t>()) {
    SLUICE_INVALID_IF(value < 0 || value >= range, "`true_candidate` out of range [0, ", range,
                      "), received ", value);
  }
  return absl::OkStatus();
}

class CandidateSamplerKernel : public Kernel {
 public:
  absl::Status Compute(KernelContext& context) override {
    const Tensor& classes = context.input(0);
    SLUICE_RETURN_IF_ERROR(ExpectRank(classes, 2, "true_classes must be a matrix, got shape "));
    SLUICE_INVALID_IF(classes.dim(1) != num_true_,
                      "true_classes must have num_true columns, expected: ", num_true_,
                      ", got: ", classes.dim(1));
    const int64_t range = sampler_ ? sampler_->range() : num_sampled_;
    SLUICE_INVALID_IF(unique_ && num_sampled_ > drawable_,
                      "Sampler's range is too small: ", num_sampled_, " different samples of ",
                      drawable_, " classes");
    SLUICE_ASSIGN_OR_RETURN(Tensor * samples, context.AllocateOutput(0, {num_sampled_}));
    SLUICE_ASSIGN_OR_RETURN(Tensor * true_counts, context.AllocateOutput(1, classes.shape()));
    SLUICE_ASSIGN_OR_RETURN(Tensor * sampled_counts, context.AllocateOutput(2, {num_sampled_}));
    SLUICE_RETURN_IF_ERROR(CheckClasses(classes, range));
    Philox generator = generator_.Reserve(static_cast<uint64_t>(512 * num_sampled_));
    if (!sampler_) {
      TakeAll(samples, true_counts, sampled_counts);
      return absl::OkStatus();
    }
    const auto sample = [&]() -> absl::Status {
      SLUICE_ASSIGN_OR_RETURN(const int64_t tries,
                              Draw(context, &generator, samples->flat<int64_t>()));
      Count(context, samples->flat<int64_t>(), tries, sampled_counts);
      Count(context, classes.flat<int64_t>(), tries, true_counts);
      return absl::OkStatus();
    };
    if (!sampler_->learns()) return sample();
    {
      ReaderLock lock(&mutex_);
      SLUICE_RETURN_IF_ERROR(sample());
    }
    WriterLock lock(&mutex_);
    sampler_->Update(classes.flat<int64_t>());
    return absl::OkStatus();
  }

 protected:
  // If `sampler` is null, the samples are all classes.
  CandidateSamplerKernel(KernelInit& init, std::unique_ptr<ClassSampler> sampler)
      : num_true_(init.attr<int64_t>("num_true")),
        num_sampled_(init.attr<int64_t>("num_sampled")),
        unique_(init.attr<bool>("unique")),
        generator_(init.attr<int64_t>("seed"), init.attr<int64_t>("seed2")),
        sampler_(std::move(sampler)),
        drawable_(sampler_ ? sampler_->drawable() : num_sampled_) {}

 private:
  static void TakeAll(Tensor* samples, Tensor* true_counts, Tensor* sampled_counts) {
    for (int64_t i = 0; i < samples->num_elements(); ++i) samples->data<int64_t>()[i] = i;
    for (Tensor* t : {true_counts, sampled_counts}) {
      std::fill_n(t->data<float>(), t->num_elements(), 1.0f);
    }
  }

  // Draws the samples. Checks for cancellation, because it may take very many tries to draw rare
  // classes.
  absl::StatusOr<int64_t> Draw(const KernelContext& context, Philox* generator,
                               absl::Span<int64_t> samples) const {
    SingleNumbers bits(generator);
    if (!unique_) {
      for (int64_t& sample : samples) sample = sampler_->Sample(bits);
      return num_sampled_;
    }
    using Plain = absl::flat_hash_set<int64_t>;
    absl::flat_hash_set<int64_t, Plain::hasher, Plain::key_equal, ScratchAllocator<int64_t>> used{
        ScratchAllocator<int64_t>(context)};
    used.reserve(samples.size());
    int64_t tries = 0;
    for (size_t picked = 0; picked < samples.size();) {
      const int64_t value = sampler_->Sample(bits);
      if (++tries % (1 << 16) == 0) SLUICE_RETURN_IF_ERROR(CallerOf(context).CheckNotCancelled());
      if (used.insert(value).second) samples[picked++] = value;
    }
    return tries;
  }

  void Count(KernelContext& context, absl::Span<const int64_t> values, int64_t tries,
             Tensor* counts) const {
    constexpr double kCost = 25;
    float* const out = counts->data<float>();
    const auto size = static_cast<int64_t>(values.size());
    context.ParallelFor(size, kCost, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        out[i] = ExpectedCount(sampler_->Probability(values[i]), num_sampled_, tries);
      }
    });
  }

  const int64_t num_true_, num_sampled_;
  const bool unique_;
  ReservedGenerator generator_;
  SharedMutex mutex_;  // guards the counts of a sampler that learns
  const std::unique_ptr<ClassSampler> sampler_;
  const int64_t drawable_;
};

template <std::unique_ptr<ClassSampler> (*kMake)(int64_t)>
class RangeSamplerKernel : public CandidateSamplerKernel {
 public:
  explicit RangeSamplerKernel(KernelInit& init)
      : CandidateSamplerKernel(init, kMake(init.attr<int64_t>("range_max"))) {}
};
KERNEL(UniformCandidateSampler, RangeSamplerKernel<UniformClasses>);
KERNEL(LogUniformCandidateSampler, RangeSamplerKernel<LogUniformClasses>);

class LearnedKernel : public CandidateSamplerKernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    const auto range = init.attr<int64_t>("range_max");
    SLUICE_INVALID_IF(range >= std::numeric_limits<int32_t>::max(), "range_max must be less than ",
                      std::numeric_limits<int32_t>::max(), " for unigram samplers, got ", range);
    SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<ClassSampler> sampler, LearnedClasses(range));
    return std::unique_ptr<Kernel>(new LearnedKernel(init, std::move(sampler)));
  }

 private:
  using CandidateSamplerKernel::CandidateSamplerKernel;
};
KERNEL(LearnedUnigramCandidateSampler, LearnedKernel);
KERNEL(ThreadUnsafeUnigramCandidateSampler, LearnedKernel);

class AllKernel : public CandidateSamplerKernel {
 public:
  explicit AllKernel(KernelInit& init) : CandidateSamplerKernel(init, nullptr) {}
};
KERNEL(AllCandidateSampler, AllKernel);

class FixedUnigramKernel : public CandidateSamplerKernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    const auto& file = init.attr<std::string>("vocab_file");
    std::vector<float> unigrams = init.attr<std::vector<float>>("unigrams");
    SLUICE_INVALID_IF(file.empty() == unigrams.empty(),
                      file.empty() ? "Must provide either vocab_file or unigrams."
                                   : "Must only provide one of vocab_file and unigrams.");
    if (!file.empty()) SLUICE_RETURN_IF_ERROR(ReadWeights(file, &unigrams));
    const auto reserved = init.attr<int64_t>("num_reserved_ids");
    const auto shards = init.attr<int64_t>("num_shards"), shard = init.attr<int64_t>("shard");
    const float distortion = init.attr<float>("distortion");
    const int64_t ids = SaturatedSum(reserved, static_cast<int64_t>(unigrams.size()));
    // The shard has those ids below `ids` that are shard, shard + shards, …
    const int64_t own = shard >= std::min(shards, ids) ? 0 : (ids - shard - 1) / shards + 1;
    const auto range = init.attr<int64_t>("range_max");
    SLUICE_INVALID_IF(own != range, "range is ", range, " must be equal to weights size ", own);
    SLUICE_INVALID_IF(own >= std::numeric_limits<int32_t>::max(), "range_max must be less than ",
                      std::numeric_limits<int32_t>::max(), " for unigram samplers, got ", own);
    SLUICE_RETURN_IF_ERROR(CheckRoom(own, 2 * sizeof(double), "classes"));
    std::vector<float> weights;
    for (int64_t k = 0; k < own; ++k) {
      const int64_t id = shard + k * shards;
      weights.push_back(
          id < reserved ? 0 : std::pow(unigrams[static_cast<size_t>(id - reserved)], distortion));
    }
    SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<ClassSampler> sampler,
                            WeightedClasses(range, std::move(weights)));
    return std::unique_ptr<Kernel>(new FixedUnigramKernel(init, std::move(sampler)));
  }

 private:
  using CandidateSamplerKernel::CandidateSamplerKernel;

  // Reads the last field of each line. Fields are separated by commas.
  static absl::Status ReadWeights(const std::string& file, std::vector<float>* weights) {
    SLUICE_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(file));
    std::istringstream in(text);
    std::string line;
    while (std::getline(in, line)) {
      float weight;
      SLUICE_INVALID_IF(
          !absl::SimpleAtof(ToAbsl(std::string_view(line).substr(line.rfind(',') + 1)), &weight),
          "Wrong vocabulary format at line: ", line);
      weights->push_back(weight);
    }
    return absl::OkStatus();
  }
};
KERNEL(FixedUnigramCandidateSampler, FixedUnigramKernel);

absl::Status AccidentalHits(KernelContext& context, Attr<int64_t, "num_true"> num_true) {
  const Tensor &classes = context.input(0), &samples = context.input(1);
  SLUICE_INVALID_IF(classes.rank() != 2 || classes.dim(1) != num_true,
                    "true_candidates must be a batch_size * num_true matrix, got shape ",
                    classes.shape().ToString());
  SLUICE_RETURN_IF_ERROR(ExpectRank(samples, 1,
                                    "sampled_candidates must be a vector, which is typically an "
                                    "output from CandidateSampler, got shape "));
  std::map<int64_t, int64_t> places;  // the last position of each sample
  for (int64_t i = 0; i < samples.dim(0); ++i) places[samples.data<int64_t>()[i]] = i;
  std::vector<int32_t> rows;
  std::vector<int64_t> ids;
  for (int64_t i = 0; i < classes.num_elements(); ++i) {
    auto place = places.find(classes.data<int64_t>()[i]);
    if (place == places.end()) continue;
    rows.push_back(static_cast<int32_t>(i / num_true));
    ids.push_back(place->second);
  }
  const auto size = static_cast<int64_t>(rows.size());
  SLUICE_ASSIGN_OR_RETURN(Tensor * indices, context.AllocateOutput(0, {size}));
  SLUICE_ASSIGN_OR_RETURN(Tensor * sampled_ids, context.AllocateOutput(1, {size}));
  SLUICE_ASSIGN_OR_RETURN(Tensor * weights, context.AllocateOutput(2, {size}));
  std::copy(rows.begin(), rows.end(), indices->data<int32_t>());
  std::copy(ids.begin(), ids.end(), sampled_ids->data<int64_t>());
  std::fill_n(weights->data<float>(), size, std::numeric_limits<float>::lowest());
  return absl::OkStatus();
}
KERNEL(ComputeAccidentalHits, FunctionKernel<AccidentalHits>);

}  // namespace
}  // namespace sluice
