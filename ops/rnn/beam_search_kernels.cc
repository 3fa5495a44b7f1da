#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/state/wait.h"

namespace sluice {
namespace {

template <typename T>
constexpr T kNever = -std::numeric_limits<T>::infinity();

template <typename T>
T LogSum(T a, T b) {
  if (a == kNever<T>) return b;
  if (b == kNever<T>) return a;
  const T high = std::max(a, b);
  return high + std::log1p(std::exp(std::min(a, b) - high));
}

// Logarithms of probabilities of a prefix: `blank` for all paths that end in a blank, `label` for
// those that end in the prefix's last label, and `total` for both.
template <typename T>
struct Chances {
  T total = kNever<T>, blank = kNever<T>, label = kNever<T>;
};

// Prefix beam search. The beam holds at most `width` prefixes. A prefix is in the beam if and only
// if its `now.total` is not kNever.
//
// Reference: Graves, "Supervised Sequence Labelling with Recurrent Neural Networks" (2008), section
// 7.5.3.
template <typename T>
class Beam {
 public:
  Beam(int64_t width, int64_t classes) : width_(static_cast<size_t>(width)), classes_(classes) {
    Prefix& root = prefixes_.emplace_back();
    root.now.total = root.now.blank = 0;
    beam_.push_back(&root);
  }

  // Processes the logits of one step. The last class is the blank. Returns false if the caller is
  // cancelled, because a wide beam takes long.
  bool Step(const T* logits, const Caller& caller) {
    const T offset = LogNormalizer(logits);
    SortBeam();
    std::vector<Prefix*> before;
    before.swap(beam_);
    for (Prefix* p : before) p->old = p->now;
    for (Prefix* p : before) {
      Stay(p, logits, offset);
      beam_.push_back(p);
    }
    for (size_t i = 0; i < before.size(); ++i) {
      Prefix* const p = before[i];
      if (i % 16 == 15 && !caller.CheckNotCancelled().ok()) return false;
      if (!MayEnter(p->old.total)) continue;
      for (int64_t k = 0; k + 1 < classes_; ++k) Grow(p, k, logits[k] - offset);
    }
    return true;
  }

  struct Path {
    std::vector<int64_t> labels;
    T log_probability;
  };
  // Returns the n most probable paths, or all if there are fewer.
  std::vector<Path> Best(int64_t n, bool merge_repeated) {
    SortBeam();
    std::vector<Path> paths;
    for (Prefix* p : beam_) {
      if (static_cast<int64_t>(paths.size()) == n) break;
      Path path{{}, p->now.total};
      int64_t after = -1;
      for (; p->parent != nullptr; p = p->parent) {
        if (!merge_repeated || p->label != after) path.labels.push_back(p->label);
        after = p->label;
      }
      std::reverse(path.labels.begin(), path.labels.end());
      paths.push_back(std::move(path));
    }
    return paths;
  }

 private:
  struct Prefix {
    Prefix* parent = nullptr;
    int64_t label = -1;
    std::vector<Prefix*> children;  // by label, allocated at first use
    Chances<T> old, now;

    bool IsInBeam() const { return now.total != kNever<T>; }
  };

  T LogNormalizer(const T* logits) const {
    const T high = *std::max_element(logits, logits + classes_);
    T sum = 0;
    for (int64_t k = 0; k < classes_; ++k) sum += std::exp(logits[k] - high);
    return high + std::log(sum);
  }

  static bool IsBetter(const Prefix* a, const Prefix* b) { return a->now.total > b->now.total; }
  void SortBeam() { std::stable_sort(beam_.begin(), beam_.end(), IsBetter); }
  // Returns the least probable prefix of the beam.
  typename std::vector<Prefix*>::iterator Worst() {
    return std::max_element(beam_.begin(), beam_.end(), IsBetter);
  }
  bool MayEnter(T total) {
    return total > kNever<T> && (beam_.size() < width_ || total > (*Worst())->now.total);
  }

  // Updates a prefix of the beam for a step that repeats its last label or emits a blank.
  void Stay(Prefix* p, const T* logits, T offset) {
    if (p->parent != nullptr) {
      if (p->parent->IsInBeam()) {
        const Chances<T>& parent = p->parent->old;
        p->now.label =
            LogSum(p->now.label, p->label == p->parent->label ? parent.blank : parent.total);
      }
      p->now.label += logits[p->label] - offset;
    }
    p->now.blank = p->old.total + logits[classes_ - 1] - offset;
    p->now.total = LogSum(p->now.blank, p->now.label);
  }

  // Extends a prefix by a label. Does nothing if the extended prefix is already in the beam. Keeps
  // only prefixes that have been in the beam, because a step has width * classes others.
  void Grow(Prefix* p, int64_t label, T log_probability) {
    Prefix* child = p->children.empty() ? nullptr : p->children[static_cast<size_t>(label)];
    if (child != nullptr && child->IsInBeam()) return;
    const T total = log_probability + (label == p->label ? p->old.blank : p->old.total);
    if (!MayEnter(total)) {
      if (child != nullptr) child->old = child->now = Chances<T>();
      return;
    }
    if (child == nullptr) child = AddChild(p, label);
    child->now = {total, kNever<T>, total};
    if (beam_.size() == width_) {
      auto worst = Worst();
      (*worst)->now = Chances<T>();
      beam_.erase(worst);
    }
    beam_.push_back(child);
  }

  Prefix* AddChild(Prefix* p, int64_t label) {
    if (p->children.empty()) p->children.resize(static_cast<size_t>(classes_ - 1));
    Prefix* const child = &prefixes_.emplace_back();
    child->parent = p;
    child->label = label;
    p->children[static_cast<size_t>(label)] = child;
    return child;
  }

  const size_t width_;
  const int64_t classes_;
  std::deque<Prefix> prefixes_;  // the empty one, and all that were in the beam
  std::vector<Prefix*> beam_;
};

absl::Status CheckInputs(const Tensor& inputs, const Tensor& lengths) {
  SLUICE_RETURN_IF_ERROR(ExpectRank(inputs, 3, "inputs is not a 3-Tensor, got shape "));
  SLUICE_RETURN_IF_ERROR(ExpectRank(lengths, 1, "sequence_length is not a vector, got shape "));
  SLUICE_INVALID_IF(inputs.num_elements() == 0, "inputs must not be empty, got shape ",
                    inputs.shape().ToString());
  if (lengths.dim(0) != inputs.dim(1)) {
    return absl::FailedPreconditionError(
        StrCat("len(sequence_length) != batch_size.  len(sequence_length):  ", lengths.dim(0),
               " batch_size: ", inputs.dim(1)));
  }
  for (int64_t b = 0; b < lengths.dim(0); ++b) {
    const int32_t n = lengths.data<int32_t>()[b];
    if (n >= 0 && n <= inputs.dim(0)) continue;
    return absl::FailedPreconditionError(
        StrCat("sequence_length(", b, ") <= ", inputs.dim(0), ", got ", n));
  }
  return absl::OkStatus();
}

template <typename T>
class BeamSearchKernel : public Kernel {
 public:
  explicit BeamSearchKernel(KernelInit& init)
      : merge_(init.attr<bool>("merge_repeated")),
        width_(init.attr<int64_t>("beam_width")),
        paths_(init.attr<int64_t>("top_paths")) {}

  absl::Status Compute(KernelContext& c) override {
    const Tensor &inputs = c.input(0), &lengths = c.input(1);
    SLUICE_RETURN_IF_ERROR(CheckInputs(inputs, lengths));
    SLUICE_INVALID_IF(paths_ > width_, "requested more paths than the beam width: ", paths_, " of ",
                      width_);
    const int64_t batch = inputs.dim(1), classes = inputs.dim(2);
    SLUICE_ASSIGN_OR_RETURN(
        Tensor * log_probability,
        c.AllocateOutput(static_cast<int>(3 * paths_), TensorShape({batch, paths_})));
    std::vector<std::vector<typename Beam<T>::Path>> best(static_cast<size_t>(batch));
    const Caller caller = CallerOf(c);
    c.ParallelFor(
        batch, 100.0 * static_cast<double>(inputs.dim(0) * classes) * static_cast<double>(width_),
        [&](int64_t begin, int64_t end) {
          for (int64_t b = begin; b < end; ++b) {
            Beam<T> beam(width_, classes);
            for (int64_t t = 0; t < lengths.data<int32_t>()[b]; ++t) {
              if (!beam.Step(inputs.data<T>() + (t * batch + b) * classes, caller)) return;
            }
            best[static_cast<size_t>(b)] = beam.Best(paths_, merge_);
          }
        });
    SLUICE_RETURN_IF_ERROR(caller.CheckNotCancelled());
    for (int64_t b = 0; b < batch; ++b) {
      const auto& own = best[static_cast<size_t>(b)];
      SLUICE_INVALID_IF(static_cast<int64_t>(own.size()) < paths_,
                        "Less leaves in the beam search than requested: ", own.size(), " of ",
                        paths_);
      for (int64_t i = 0; i < paths_; ++i) {
        log_probability->data<T>()[b * paths_ + i] = own[static_cast<size_t>(i)].log_probability;
      }
    }
    for (int64_t i = 0; i < paths_; ++i) SLUICE_RETURN_IF_ERROR(Give(c, i, best));
    return absl::OkStatus();
  }

 private:
  // Outputs path i of all sequences as a sparse matrix.
  absl::Status Give(KernelContext& c, int64_t i,
                    const std::vector<std::vector<typename Beam<T>::Path>>& best) const {
    int64_t count = 0, longest = 0;
    for (const auto& own : best) {
      const auto length = static_cast<int64_t>(own[static_cast<size_t>(i)].labels.size());
      count += length;
      longest = std::max(longest, length);
    }
    SLUICE_ASSIGN_OR_RETURN(Tensor * indices, c.AllocateOutput(static_cast<int>(i), {count, 2}));
    SLUICE_ASSIGN_OR_RETURN(Tensor * values,
                            c.AllocateOutput(static_cast<int>(paths_ + i), {count}));
    int64_t *place = indices->data<int64_t>(), *value = values->data<int64_t>();
    for (size_t b = 0; b < best.size(); ++b) {
      const std::vector<int64_t>& labels = best[b][static_cast<size_t>(i)].labels;
      for (size_t t = 0; t < labels.size(); ++t) {
        *place++ = static_cast<int64_t>(b);
        *place++ = static_cast<int64_t>(t);
      }
      value = std::copy(labels.begin(), labels.end(), value);
    }
    c.set_output(static_cast<int>(2 * paths_ + i),
                 Tensor::Vector<int64_t>({static_cast<int64_t>(best.size()), longest}));
    return absl::OkStatus();
  }

  const bool merge_;
  const int64_t width_, paths_;
};
using CtcTypes = TypeList<float, double>;
KERNELS(CTCBeamSearchDecoder, "T", BeamSearchKernel, CtcTypes);

}  // namespace
}  // namespace sluice
