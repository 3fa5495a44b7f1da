// A batch of examples, the weights of their features, and the changes of these weights, for dual
// coordinate ascent (sdca.cc).
//
// Thread safety: one thread at a time. The tensors of the kernel context must outlive the object.
#ifndef SLUICE_OPS_UPDATE_EXAMPLES_H_
#define SLUICE_OPS_UPDATE_EXAMPLES_H_

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/kernel/context.h"

namespace sluice::linear {

// Moves weights toward 0 by l1 / l2, and no further than 0.
struct Shrinkage {
  Shrinkage(float l1, float l2) : by(l1 / l2) {}
  double operator()(double weight) const;
  double by;
};

// The positions of the inputs of a node. A list of inputs has the positions [first, second).
struct Places {
  explicit Places(const KernelInit& init);
  using Range = std::pair<int, int>;
  Range example_indices, feature_indices, feature_values, dense_features, sparse_indices,
      sparse_weights, dense_weights;
  int labels, weights, state;
};

class Examples {
 public:
  // Reads the inputs. Allocates the outputs for the changes of weights and fills them with zeros.
  // INVALID_ARGUMENT if the sizes of inputs do not match.
  static absl::StatusOr<Examples> Read(KernelContext& c, const Places& places);

  int64_t size() const { return count_; }
  float weight(int64_t example) const { return weights_[example]; }
  float label(int64_t example) const { return labels_[example]; }
  double squared_norm(int64_t example) const { return squared_norms_[example]; }

  struct Predictions {
    double now = 0;     // with the weights plus `partitions` times their changes
    double before = 0;  // with the weights without the changes
  };
  // Predicts the example's label by the linear model, whose weights are first shrunk by `shrink`.
  // `partitions` is the attribute num_loss_partitions.
  Predictions Predict(int64_t example, const Shrinkage& shrink, int partitions) const;
  // Adds `step` times the example's features to the changes of the features' weights.
  void Add(int64_t example, double step);

 private:
  // A sparse feature column. Example i has the entries [starts[i], ends[i]).
  struct Sparse {
    double value(int64_t k) const { return values == nullptr ? 1.0 : values[k]; }
    std::vector<int64_t> starts, ends;
    std::vector<int64_t> weights;  // by entry: the index of its weight
    const float* values = nullptr;
    const float* nominal = nullptr;
    float* delta = nullptr;
  };
  struct Dense {
    const float* features;
    int64_t length;
    const float* nominal;
    float* delta;
  };
  absl::Status ReadSparse(KernelContext& c, const Places& places, int i);
  absl::Status ReadDense(KernelContext& c, const Places& places, int i, int num_sparse);
  absl::Status Measure();

  int64_t count_ = 0;
  const float *weights_ = nullptr, *labels_ = nullptr;
  std::vector<double> squared_norms_;
  std::vector<Sparse> sparse_;
  std::vector<Dense> dense_;
};

}  // namespace sluice::linear

#endif  // SLUICE_OPS_UPDATE_EXAMPLES_H_
