#include <algorithm>
#include <cmath>
#include <limits>

#include "executor/kernel/context.h"

namespace sluice {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

double LogSum(double a, double b) {
  if (a == kNever) return b;
  if (b == kNever) return a;
  const double high = std::max(a, b);
  return high + std::log1p(std::exp(std::min(a, b) - high));
}

// Checks the logits [time, batch, classes] and the length of each sequence. If a sequence has too
// many steps, returns an error with code `too_long`.
absl::Status CheckInputs(const Tensor& inputs, const Tensor& lengths, absl::StatusCode too_long) {
  SLUICE_RETURN_IF_ERROR(ExpectRank(inputs, 3, "inputs is not a 3-Tensor, got shape "));
  SLUICE_RETURN_IF_ERROR(ExpectRank(lengths, 1, "sequence_length is not a vector, got shape "));
  SLUICE_INVALID_IF(inputs.dim(0) == 0, "max_time is 0");
  SLUICE_INVALID_IF(inputs.dim(2) == 0, "num_classes is 0");
  SLUICE_INVALID_IF(inputs.dim(1) == 0, "batch_size must not be 0");
  SLUICE_INVALID_IF(lengths.dim(0) != inputs.dim(1),
                    "len(sequence_length) != batch_size: len(sequence_length): ", lengths.dim(0),
                    " batch_size: ", inputs.dim(1));
  for (int64_t b = 0; b < lengths.dim(0); ++b) {
    const int32_t n = lengths.data<int32_t>()[b];
    SLUICE_INVALID_IF(n < 0, "sequence_length(", b, ") < 0");
    if (n > inputs.dim(0)) {
      return absl::Status(too_long,
                          StrCat("sequence_length(", b, ") <= ", inputs.dim(0), ", got ", n));
    }
  }
  return absl::OkStatus();
}

// Computes the loss of one sequence, with logarithms of probabilities. Reference: Graves et al.,
// "Connectionist temporal classification" (2006).
class Sequence {
 public:
  // `labels` must not contain blanks. `log_y` has the logarithms of the probabilities of `classes`
  // classes for each of `steps` steps.
  Sequence(const std::vector<int>& labels, int blank, bool merge, std::vector<double> log_y,
           int64_t steps, int64_t classes)
      : blank_(blank), merge_(merge), log_y_(std::move(log_y)), steps_(steps), classes_(classes) {
    path_.push_back(blank);
    for (int label : labels) {
      path_.push_back(label);
      path_.push_back(blank);
    }
  }

  // Returns the logarithm of the probability of the labels. Sets (*expected)[t * classes + k] to
  // the probability that step t is class k, given the labels.
  double Run(std::vector<double>* expected) {
    const std::vector<double> alpha = Forward(), beta = Backward();
    const size_t n = path_.size();
    double total = kNever;
    for (size_t u = 0; u < n; ++u) total = LogSum(total, alpha[u] + beta[u]);
    std::vector<double> sums(log_y_.size(), kNever);
    for (int64_t t = 0; t < steps_; ++t) {
      for (size_t u = 0; u < n; ++u) {
        double& sum = sums[t * classes_ + path_[u]];
        sum = LogSum(sum, alpha[t * n + u] + beta[t * n + u]);
      }
    }
    if (total == kNever) return total;
    expected->resize(sums.size());
    for (size_t i = 0; i < sums.size(); ++i) (*expected)[i] = std::exp(sums[i] - total);
    return total;
  }

 private:
  double LogY(int64_t t, size_t u) const { return log_y_[t * classes_ + path_[u]]; }
  bool Stays(size_t u) const { return merge_ || path_[u] == blank_; }
  // Returns whether a path may move from u - 2 to u.
  bool Skips(size_t u) const {
    return u >= 2 && path_[u] != blank_ && !(merge_ && path_[u] == path_[u - 2]);
  }

  // Returns alpha, which includes the probability of step t, unlike beta.
  std::vector<double> Forward() const {
    const size_t n = path_.size();
    std::vector<double> alpha(static_cast<size_t>(steps_) * n, kNever);
    alpha[0] = LogY(0, 0);
    if (n > 1) alpha[1] = LogY(0, 1);
    for (int64_t t = 1; t < steps_; ++t) {
      const double* before = &alpha[(t - 1) * n];
      for (size_t u = 0; u < n; ++u) {
        double sum = Stays(u) ? before[u] : kNever;
        if (u >= 1) sum = LogSum(sum, before[u - 1]);
        if (Skips(u)) sum = LogSum(sum, before[u - 2]);
        alpha[t * n + u] = sum + LogY(t, u);
      }
    }
    return alpha;
  }
  std::vector<double> Backward() const {
    const size_t n = path_.size();
    std::vector<double> beta(static_cast<size_t>(steps_) * n, kNever);
    double* last = &beta[(steps_ - 1) * n];
    last[n - 1] = 0;
    if (n > 1) last[n - 2] = 0;
    for (int64_t t = steps_ - 2; t >= 0; --t) {
      const double* after = &beta[(t + 1) * n];
      for (size_t u = 0; u < n; ++u) {
        double sum = Stays(u) ? after[u] + LogY(t + 1, u) : kNever;
        if (u + 1 < n) sum = LogSum(sum, after[u + 1] + LogY(t + 1, u + 1));
        if (u + 2 < n && Skips(u + 2)) sum = LogSum(sum, after[u + 2] + LogY(t + 1, u + 2));
        beta[t * n + u] = sum;
      }
    }
    return beta;
  }

  const int blank_;
  const bool merge_;
  std::vector<int> path_;  // the labels, with blanks around each
  const std::vector<double> log_y_;
  const int64_t steps_, classes_;
};

template <typename T>
class CtcLossKernel : public Kernel {
 public:
  explicit CtcLossKernel(KernelInit& init)
      : collapse_(init.attr<bool>("preprocess_collapse_repeated")),
        merge_(init.attr<bool>("ctc_merge_repeated")),
        ignore_longer_(init.attr<bool>("ignore_longer_outputs_than_inputs")) {}

  absl::Status Compute(KernelContext& c) override {
    const Tensor &inputs = c.input(0), &lengths = c.input(3);
    SLUICE_RETURN_IF_ERROR(CheckInputs(inputs, lengths, absl::StatusCode::kInvalidArgument));
    const int64_t batch = inputs.dim(1), classes = inputs.dim(2);
    std::vector<std::vector<int>> labels(static_cast<size_t>(batch));
    SLUICE_RETURN_IF_ERROR(ReadLabels(c.input(1), c.input(2), static_cast<int>(classes), &labels));
    SLUICE_ASSIGN_OR_RETURN(Tensor * loss, c.AllocateOutput(0, {batch}));
    SLUICE_ASSIGN_OR_RETURN(Tensor * gradient, c.AllocateOutput(1, inputs.shape()));
    std::fill_n(gradient->data<T>(), gradient->num_elements(), T(0));
    for (int64_t b = 0; b < batch; ++b) {
      const int64_t steps = lengths.data<int32_t>()[b];
      const std::vector<int>& own = labels[static_cast<size_t>(b)];
      loss->data<T>()[b] = 0;
      if (steps == 0) continue;
      if (static_cast<int64_t>(own.size()) > steps) {
        if (ignore_longer_) continue;
        return InvalidArgument("Not enough time for target transition sequence (required: ",
                               own.size(), ", available: ", steps, ") in batch ", b,
                               ". You can turn this error into a warning by using the flag "
                               "ignore_longer_outputs_than_inputs");
      }
      SLUICE_RETURN_IF_ERROR(CheckMemory(c, steps, own.size()));
      loss->data<T>()[b] = One(inputs, b, steps, own, gradient);
    }
    return absl::OkStatus();
  }

 private:
  absl::Status ReadLabels(const Tensor& indices, const Tensor& values, int classes,
                          std::vector<std::vector<int>>* labels) const {
    SLUICE_RETURN_IF_ERROR(ExpectRank(indices, 2, "labels_indices is not a matrix, got shape "));
    SLUICE_INVALID_IF(indices.dim(1) < 2, "labels_indices second dimension must be >= 1. Received ",
                      indices.dim(1));
    SLUICE_INVALID_IF(values.rank() != 1 || values.dim(0) != indices.dim(0),
                      "labels_indices and labels_values must contain the same number of "
                      "rows, but saw shapes: ",
                      indices.shape().ToString(), " vs. ", values.shape().ToString());
    const auto batch = static_cast<int64_t>(labels->size());
    for (int64_t i = 0; i < values.dim(0); ++i) {
      const int64_t b = indices.data<int64_t>()[i * indices.dim(1)];
      SLUICE_INVALID_IF(b < 0 || b >= batch, "labels batch index must be between 0 and ", batch,
                        " but saw: ", b);
      const int label = values.data<int32_t>()[i];
      SLUICE_INVALID_IF(label < 0 || label >= classes - 1,
                        "All labels must be nonnegative integers below num_classes - 1 = ",
                        classes - 1, ", batch: ", b, " labels: ", label);
      if (i > 0) SLUICE_RETURN_IF_ERROR(CheckOrder(indices, i));
      std::vector<int>& own = (*labels)[static_cast<size_t>(b)];
      if (collapse_ && !own.empty() && own.back() == label) continue;
      own.push_back(label);
    }
    for (size_t b = 0; b < labels->size(); ++b) {
      SLUICE_INVALID_IF((*labels)[b].empty(), "Labels length is zero in batch ", b);
    }
    return absl::OkStatus();
  }

  // Checks that row i of the indices sorts after row i - 1.
  // Checks the memory of the sums that Sequence computes forward and backward.
  static absl::Status CheckMemory(KernelContext& c, int64_t steps, size_t labels) {
    const int64_t path = 2 * static_cast<int64_t>(labels) + 1;
    return c.AllocateTemp(DT_DOUBLE, {2, steps, path}).status();
  }

  static absl::Status CheckOrder(const Tensor& indices, int64_t i) {
    const int64_t rank = indices.dim(1);
    const int64_t* row = indices.data<int64_t>() + i * rank;
    SLUICE_INVALID_IF(!std::lexicographical_compare(row - rank, row, row, row + rank),
                      "label SparseTensor is not valid: indices[", i,
                      "] is out of order. Many sparse ops require sorted indices.");
    return absl::OkStatus();
  }

  T One(const Tensor& inputs, int64_t b, int64_t steps, const std::vector<int>& labels,
        Tensor* gradient) const {
    const int64_t batch = inputs.dim(1), classes = inputs.dim(2);
    std::vector<double> log_y(static_cast<size_t>(steps * classes));
    for (int64_t t = 0; t < steps; ++t) {
      const T* x = inputs.data<T>() + (t * batch + b) * classes;
      const double high = static_cast<double>(*std::max_element(x, x + classes));
      double sum = 0;
      for (int64_t k = 0; k < classes; ++k) sum += std::exp(static_cast<double>(x[k]) - high);
      for (int64_t k = 0; k < classes; ++k) {
        log_y[t * classes + k] = static_cast<double>(x[k]) - high - std::log(sum);
      }
    }
    std::vector<double> expected;
    const double log_p =
        Sequence(labels, static_cast<int>(classes) - 1, merge_, log_y, steps, classes)
            .Run(&expected);
    for (int64_t i = 0; i < steps * classes; ++i) {
      const double known = expected.empty() ? 0 : expected[static_cast<size_t>(i)];
      gradient->data<T>()[(i / classes * batch + b) * classes + i % classes] =
          static_cast<T>(std::exp(log_y[static_cast<size_t>(i)]) - known);
    }
    return static_cast<T>(-log_p);
  }

  const bool collapse_, merge_, ignore_longer_;
};
using CtcTypes = TypeList<float, double>;
KERNELS(CTCLoss, "T", CtcLossKernel, CtcTypes);

template <typename T>
absl::Status CtcGreedyDecoder(KernelContext& c, Attr<bool, "merge_repeated"> merge,
                              Attr<int64_t, "blank_index"> blank_attr) {
  const Tensor &inputs = c.input(0), &lengths = c.input(1);
  SLUICE_RETURN_IF_ERROR(CheckInputs(inputs, lengths, absl::StatusCode::kFailedPrecondition));
  const int64_t batch = inputs.dim(1), classes = inputs.dim(2);
  const int64_t blank = blank_attr < 0 ? blank_attr + classes : blank_attr;
  SLUICE_INVALID_IF(blank < 0 || blank >= classes, "blank_index expected to be between ", -classes,
                    " and ", classes - 1, " but was ", blank_attr.value);
  SLUICE_ASSIGN_OR_RETURN(Tensor * log_probability, c.AllocateOutput(3, {batch, 1}));
  std::vector<int64_t> indices, values;
  int64_t longest = 0;
  for (int64_t b = 0; b < batch; ++b) {
    T sum = 0;
    int64_t previous = -1, count = 0;
    for (int64_t t = 0; t < lengths.data<int32_t>()[b]; ++t) {
      const T* x = inputs.data<T>() + (t * batch + b) * classes;
      const T* greatest = std::max_element(x, x + classes);
      sum -= *greatest;
      const int64_t label = greatest - x;
      if (label != blank && !(merge && label == previous)) {
        indices.insert(indices.end(), {b, count++});
        values.push_back(label);
      }
      previous = label;
    }
    log_probability->data<T>()[b] = sum;
    longest = std::max(longest, count);
  }
  const auto count = static_cast<int64_t>(values.size());
  SLUICE_ASSIGN_OR_RETURN(Tensor * out_indices, c.AllocateOutput(0, {count, 2}));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out_values, c.AllocateOutput(1, {count}));
  std::copy(indices.begin(), indices.end(), out_indices->data<int64_t>());
  std::copy(values.begin(), values.end(), out_values->data<int64_t>());
  c.set_output(2, Tensor::Vector<int64_t>({batch, longest}));
  return absl::OkStatus();
}
FUNCTION_KERNELS(CTCGreedyDecoder, "T", CtcGreedyDecoder, CtcTypes);

}  // namespace
}  // namespace sluice
