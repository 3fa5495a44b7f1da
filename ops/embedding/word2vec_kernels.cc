// The kernels of the two ops of word2vec.cc.
#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <unordered_map>
#include <vector>

#include "executor/files/files.h"
#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/mutex.h"
#include "graph/status.h"
#include "graph/tensor/sizes.h"
#include "ops/random/class_sampler.h"
#include "ops/random/distributions.h"
#include "ops/random/philox.h"
#include "ops/state/variable_resource.h"
#include "ops/state/wait.h"

namespace sluice {
namespace {

constexpr int kSentence = 1000;  // words per sentence
constexpr int kAhead = 3000;     // number of pairs that are computed ahead

struct Options {
  std::string filename;
  int64_t batch_size, window_size, min_count;
  float subsample;
};

// The words of a file, as indices in a vocabulary. Index 0 stands for all rare words.
struct Corpus {
  static absl::StatusOr<Corpus> Read(const Options& options) {
    SLUICE_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(options.filename));
    std::vector<std::string_view> words;
    for (size_t at = 0; at < text.size();) {
      while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at]))) ++at;
      size_t end = at;
      while (end < text.size() && !std::isspace(static_cast<unsigned char>(text[end]))) ++end;
      if (end > at) words.push_back(std::string_view(text).substr(at, end - at));
      at = end;
    }
    SLUICE_INVALID_IF(
        static_cast<int64_t>(words.size()) < SaturatedProduct(options.window_size, 10),
        "The text file ", options.filename, " contains too little data: ", words.size(), " words");
    Corpus corpus;
    SLUICE_RETURN_IF_ERROR(corpus.Number(words, options.min_count));
    return corpus;
  }

  Tensor vocabulary, counts;
  std::vector<int32_t> words;

 private:
  absl::Status Number(const std::vector<std::string_view>& all, int64_t min_count) {
    std::unordered_map<std::string_view, int32_t> count;
    for (std::string_view word : all) ++count[word];
    std::vector<std::pair<std::string_view, int32_t>> frequent;
    for (const auto& [word, n] : count) {
      if (n >= min_count) frequent.emplace_back(word, n);
    }
    std::sort(frequent.begin(), frequent.end(), [](const auto& a, const auto& b) {
      return a.second != b.second ? a.second > b.second : a.first < b.first;
    });
    const auto size = static_cast<int64_t>(frequent.size()) + 1;
    SLUICE_ASSIGN_OR_RETURN(vocabulary, Tensor::Allocate(Heap(), DT_STRING, {size}));
    SLUICE_ASSIGN_OR_RETURN(counts, Tensor::Allocate(Heap(), DT_INT32, {size}));
    vocabulary.data<std::string>()[0] = "UNK";
    std::unordered_map<std::string_view, int32_t> place;
    int64_t counted = 0;
    for (size_t i = 0; i < frequent.size(); ++i) {
      vocabulary.data<std::string>()[i + 1] = std::string(frequent[i].first);
      counts.data<int32_t>()[i + 1] = frequent[i].second;
      counted += frequent[i].second;
      place[frequent[i].first] = static_cast<int32_t>(i) + 1;
    }
    counts.data<int32_t>()[0] = static_cast<int32_t>(static_cast<int64_t>(all.size()) - counted);
    words.reserve(all.size());
    for (std::string_view word : all) {
      const auto found = place.find(word);
      words.push_back(found == place.end() ? 0 : found->second);
    }
    return absl::OkStatus();
  }
};

class SkipgramKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    const Options options{init.attr<std::string>("filename"), init.attr<int64_t>("batch_size"),
                          init.attr<int64_t>("window_size"), init.attr<int64_t>("min_count"),
                          init.attr<float>("subsample")};
    SLUICE_INVALID_IF(options.batch_size < 0 || options.window_size < 1 || options.min_count < 0,
                      "expected batch_size >= 0, window_size >= 1 and min_count >= 0, got ",
                      options.batch_size, ", ", options.window_size, " and ", options.min_count);
    SLUICE_ASSIGN_OR_RETURN(Corpus corpus, Corpus::Read(options));
    return std::unique_ptr<Kernel>(new SkipgramKernel(options, std::move(corpus)));
  }

  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(Tensor * examples, c.AllocateOutput(5, {options_.batch_size}));
    SLUICE_ASSIGN_OR_RETURN(Tensor * labels, c.AllocateOutput(6, {options_.batch_size}));
    ScopedLock lock(&mutex_);
    for (int64_t i = 0; i < options_.batch_size; ++i) {
      examples->data<int32_t>()[i] = ahead_[next_ahead_].first;
      labels->data<int32_t>()[i] = ahead_[next_ahead_].second;
      if (++next_ahead_ == kAhead) LookAhead();
    }
    c.set_output(0, corpus_.vocabulary);
    c.set_output(1, corpus_.counts);
    c.set_output(2, Tensor::Scalar<int64_t>(static_cast<int64_t>(corpus_.words.size())));
    c.set_output(3, Tensor::Scalar<int32_t>(epoch_));
    c.set_output(4, Tensor::Scalar<int64_t>(processed_));
    return absl::OkStatus();
  }

 private:
  SkipgramKernel(const Options& options, Corpus corpus)
      : options_(options), corpus_(std::move(corpus)), at_(corpus_.words.size()) {
    ScopedLock lock(&mutex_);  // for the analysis of thread safety
    LookAhead();
  }

  void LookAhead() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (auto& pair : ahead_) pair = NextPair();
    next_ahead_ = 0;
  }

  // Returns a word of the sentence and the next of its neighbours.
  std::pair<int32_t, int32_t> NextPair() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    while (true) {
      if (neighbour_ >= last_neighbour_) {
        ++processed_;
        if (++word_ >= kSentence) {
          word_ = 0;
          ReadSentence();
        }
        const int skip =
            1 + static_cast<int>(Below32(static_cast<uint32_t>(options_.window_size), bits_));
        neighbour_ = std::max(0, word_ - skip);
        last_neighbour_ = std::min(kSentence, word_ + skip + 1);
      }
      if (neighbour_ != word_) break;
      ++neighbour_;
    }
    return {sentence_[word_], sentence_[neighbour_++]};
  }

  // Reads the next sentence. Omits frequent words at random, by equation 5 of Mikolov et al., 2013
  // (http://arxiv.org/abs/1310.4546).
  void ReadSentence() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto size = static_cast<float>(static_cast<int64_t>(corpus_.words.size()));
    for (int i = 0; i < kSentence; ++at_) {
      if (at_ >= corpus_.words.size()) {
        ++epoch_;
        at_ = 0;
      }
      const int32_t word = corpus_.words[at_];
      if (options_.subsample > 0) {
        const auto count = static_cast<float>(corpus_.counts.data<int32_t>()[word]);
        const float expected = options_.subsample * size;
        const float keep = (std::sqrt(count / expected) + 1) * expected / count;
        if (random::ToFloat(bits_()) > keep) continue;
      }
      sentence_[i++] = word;
    }
  }

  const Options options_;
  const Corpus corpus_;
  Mutex mutex_;
  Philox philox_ ABSL_GUARDED_BY(mutex_){0, 0};
  SingleNumbers bits_ ABSL_GUARDED_BY(mutex_){&philox_};
  std::array<int32_t, kSentence> sentence_ ABSL_GUARDED_BY(mutex_){};
  std::array<std::pair<int32_t, int32_t>, kAhead> ahead_ ABSL_GUARDED_BY(mutex_);
  int next_ahead_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t at_ ABSL_GUARDED_BY(mutex_);  // the next word of the corpus
  int word_ ABSL_GUARDED_BY(mutex_) = kSentence;
  int neighbour_ ABSL_GUARDED_BY(mutex_) = 0;
  int last_neighbour_ ABSL_GUARDED_BY(mutex_) = 0;
  int32_t epoch_ ABSL_GUARDED_BY(mutex_) = -1;
  int64_t processed_ ABSL_GUARDED_BY(mutex_) = 0;
};
KERNEL(Skipgram, SkipgramKernel);

class NegTrainKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    std::vector<float> weights;
    for (int64_t count : init.attr<std::vector<int64_t>>("vocab_count")) {
      weights.push_back(std::pow(static_cast<float>(count), 0.75f));
    }
    const auto words = static_cast<int64_t>(weights.size());
    SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<ClassSampler> words_by_count,
                            WeightedClasses(words, std::move(weights)));
    return std::unique_ptr<Kernel>(
        new NegTrainKernel(std::move(words_by_count), init.attr<int64_t>("num_negative_samples")));
  }

  absl::Status Compute(KernelContext& c) override {
    const RefInput in = c.ref_input(0), out = c.ref_input(1);
    SLUICE_INVALID_IF(in.claim == out.claim, "w_in and w_out must be two variables, got one");
    const auto [first, last] = std::minmax(in.claim, out.claim);
    std::array<std::unique_lock<Claim>, 2> locks;
    if (Claim* taken = TryLockAll<Claim>({first, last}, locks.data())) {
      return c.RunAgainAfter(taken);
    }
    SLUICE_RETURN_IF_ERROR(Check(c, *in.tensor, *out.tensor));
    SLUICE_RETURN_IF_ERROR(MakeWritable(in.tensor, *c.step().allocator));
    SLUICE_RETURN_IF_ERROR(MakeWritable(out.tensor, *c.step().allocator));
    const Tensor &examples = c.input(2), &labels = c.input(3);
    const int64_t batch = examples.num_elements(), dims = in.tensor->dim(1);
    const float rate = c.input(4).scalar<float>();
    // Reserves two numbers of 32 bits per sample, and as many again because some samples are drawn
    // again.
    Philox philox = generator_.Reserve(
        (static_cast<uint64_t>(batch) * static_cast<uint64_t>(samples_) * 8 + 3) / 4);
    SingleNumbers bits(&philox);
    std::vector<float> step(static_cast<size_t>(dims));
    // There may be any number of samples, so checks for cancellation after every kLook samples.
    constexpr int64_t kLook = 1 << 12;
    const Caller caller = CallerOf(c);
    for (int64_t i = 0; i < batch; ++i) {
      const int32_t label = labels.data<int32_t>()[i];
      float* v_in = in.tensor->data<float>() + examples.data<int32_t>()[i] * dims;
      std::fill(step.begin(), step.end(), 0.0f);
      Move(v_in, out.tensor->data<float>() + label * dims, 1, rate, step);
      for (int64_t k = 0; k < samples_; ++k) {
        if (k % kLook == kLook - 1) SLUICE_RETURN_IF_ERROR(caller.CheckNotCancelled());
        const int64_t sample = sampler_->Sample(bits);
        if (sample == label) continue;
        Move(v_in, out.tensor->data<float>() + sample * dims, -1, rate, step);
      }
      for (int64_t d = 0; d < dims; ++d) v_in[d] += step[static_cast<size_t>(d)];
    }
    return absl::OkStatus();
  }

 private:
  NegTrainKernel(std::unique_ptr<ClassSampler> sampler, int64_t samples)
      : sampler_(std::move(sampler)), samples_(samples) {}

  absl::Status Check(KernelContext& c, const Tensor& w_in, const Tensor& w_out) const {
    const Tensor &examples = c.input(2), &labels = c.input(3), &rate = c.input(4);
    SLUICE_INVALID_IF(w_in.rank() != 2, "Must be a matrix");
    SLUICE_INVALID_IF(!(w_in.shape() == w_out.shape()), "w_in.shape == w_out.shape");
    SLUICE_INVALID_IF(examples.rank() != 1, "Must be a vector");
    SLUICE_INVALID_IF(!(examples.shape() == labels.shape()), "examples.shape == labels.shape");
    SLUICE_INVALID_IF(rate.rank() != 0, "Must be a scalar");
    SLUICE_INVALID_IF(w_in.dim(0) != sampler_->range(), "vocab_size mismatches: ", w_in.dim(0),
                      " vs. ", sampler_->range());
    for (const Tensor* words : {&examples, &labels}) {
      for (int32_t word : words->flat<int32_t>()) {
        if (word >= 0 && word < w_in.dim(0)) continue;
        return InvalidArgument("expected words in [0, ", w_in.dim(0), "), got ", word);
      }
    }
    return absl::OkStatus();
  }

  // Moves v_out along the gradient of log sigmoid(sign v_in v_out). Adds the move of v_in to
  // `step`.
  static void Move(const float* v_in, float* v_out, float sign, float rate,
                   std::vector<float>& step) {
    float dot = 0;
    for (size_t d = 0; d < step.size(); ++d) dot += v_in[d] * v_out[d];
    const float g = sign / (std::exp(sign * dot) + 1.0f) * rate;
    for (size_t d = 0; d < step.size(); ++d) {
      step[d] += v_out[d] * g;
      v_out[d] += v_in[d] * g;
    }
  }

  const std::unique_ptr<ClassSampler> sampler_;
  const int64_t samples_;
  ReservedGenerator generator_{0, 0};
};
KERNEL(NegTrain, NegTrainKernel);

}  // namespace
}  // namespace sluice
