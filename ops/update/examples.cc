#include "ops/update/examples.h"

#include <algorithm>
#include <cmath>

#include "absl/container/flat_hash_set.h"
#include "graph/status.h"

namespace sluice::linear {
namespace {

// Allocates output `i` with the shape of `weights` and fills it with zeros.
absl::StatusOr<float*> NewDelta(KernelContext& c, int i, const Tensor& weights) {
  SLUICE_ASSIGN_OR_RETURN(Tensor * delta, c.AllocateOutput(i, weights.shape()));
  std::fill_n(delta->data<float>(), delta->num_elements(), 0.0f);
  return delta->data<float>();
}

}  // namespace

double Shrinkage::operator()(double weight) const {
  const double left = std::max(std::abs(weight) - by, 0.0);
  return left > 0 ? std::copysign(left, weight) : 0;
}

Places::Places(const KernelInit& init)
    : example_indices(init.InputRange("sparse_example_indices")),
      feature_indices(init.InputRange("sparse_feature_indices")),
      feature_values(init.InputRange("sparse_feature_values")),
      dense_features(init.InputRange("dense_features")),
      sparse_indices(init.InputRange("sparse_indices")),
      sparse_weights(init.InputRange("sparse_weights")),
      dense_weights(init.InputRange("dense_weights")),
      labels(init.InputRange("example_labels").first),
      weights(init.InputRange("example_weights").first),
      state(init.InputRange("example_state_data").first) {}

absl::StatusOr<Examples> Examples::Read(KernelContext& c, const Places& places) {
  Examples e;
  const Tensor &weights = c.input(places.weights), &labels = c.input(places.labels);
  e.count_ = weights.num_elements();
  SLUICE_INVALID_IF(labels.num_elements() != e.count_, "Expected ", e.count_,
                    " example labels but got ", labels.num_elements());
  e.weights_ = weights.data<float>();
  e.labels_ = labels.data<float>();
  const int num_sparse = places.example_indices.second - places.example_indices.first;
  for (int i = 0; i < num_sparse; ++i) SLUICE_RETURN_IF_ERROR(e.ReadSparse(c, places, i));
  const int num_dense = places.dense_features.second - places.dense_features.first;
  for (int i = 0; i < num_dense; ++i) {
    SLUICE_RETURN_IF_ERROR(e.ReadDense(c, places, i, num_sparse));
  }
  SLUICE_RETURN_IF_ERROR(e.Measure());
  return e;
}

absl::Status Examples::ReadSparse(KernelContext& c, const Places& places, int i) {
  const Tensor& examples = c.input(places.example_indices.first + i);
  const Tensor& features = c.input(places.feature_indices.first + i);
  const Tensor& indices = c.input(places.sparse_indices.first + i);
  const Tensor& weights = c.input(places.sparse_weights.first + i);
  const int64_t count = features.num_elements();
  SLUICE_INVALID_IF(examples.num_elements() != count,
                    "Found mismatched example_indices and feature_indices, of ",
                    examples.num_elements(), " and ", count, " elements");
  SLUICE_INVALID_IF(indices.num_elements() != weights.num_elements(),
                    "sparse_indices and sparse_weights must have the same length, got ",
                    indices.num_elements(), " and ", weights.num_elements());
  Sparse column;
  if (places.feature_values.first + i < places.feature_values.second) {
    const Tensor& values = c.input(places.feature_values.first + i);
    SLUICE_INVALID_IF(values.num_elements() != count, "expected ", count,
                      " sparse_feature_values, got ", values.num_elements());
    column.values = values.data<float>();
  }
  absl::flat_hash_map<int64_t, int64_t> place_of;
  for (int64_t k = 0; k < indices.num_elements(); ++k) place_of[indices.data<int64_t>()[k]] = k;
  // Ignores the entries after the first one that is out of order.
  int64_t at = 0;
  for (int64_t example = 0; example < count_; ++example) {
    column.starts.push_back(at);
    for (; at < count && examples.data<int64_t>()[at] == example; ++at) {
      const int64_t feature = features.data<int64_t>()[at];
      const auto found = place_of.find(feature);
      SLUICE_INVALID_IF(found == place_of.end(),
                        "Found sparse feature indices out of valid range: ", feature);
      column.weights.push_back(found->second);
    }
    column.ends.push_back(at);
  }
  column.nominal = weights.data<float>();
  SLUICE_ASSIGN_OR_RETURN(column.delta, NewDelta(c, 1 + i, weights));
  sparse_.push_back(std::move(column));
  return absl::OkStatus();
}

absl::Status Examples::ReadDense(KernelContext& c, const Places& places, int i, int num_sparse) {
  const Tensor& features = c.input(places.dense_features.first + i);
  const Tensor& weights = c.input(places.dense_weights.first + i);
  SLUICE_INVALID_IF(features.rank() != 2, "Dense features at index ", i,
                    " must be rank 2 but is rank ", features.rank());
  SLUICE_INVALID_IF(features.dim(0) != count_, "expected dense features of ", count_,
                    " examples, got ", features.dim(0));
  SLUICE_INVALID_IF(features.dim(1) != weights.num_elements(),
                    "More dense features than we have parameters for, or fewer: ", features.dim(1),
                    " and ", weights.num_elements());
  SLUICE_ASSIGN_OR_RETURN(float* delta, NewDelta(c, 1 + num_sparse + i, weights));
  dense_.push_back({features.data<float>(), features.dim(1), weights.data<float>(), delta});
  return absl::OkStatus();
}

absl::Status Examples::Measure() {
  absl::flat_hash_set<int64_t> seen;
  for (int64_t example = 0; example < count_; ++example) {
    double sum = 0;
    for (const Sparse& column : sparse_) {
      seen.clear();
      for (int64_t k = column.starts[example]; k < column.ends[example]; ++k) {
        SLUICE_INVALID_IF(!seen.insert(column.weights[k]).second,
                          "Duplicate index in sparse vector.");
        sum += column.value(k) * column.value(k);
      }
    }
    for (const Dense& column : dense_) {
      const float* row = column.features + example * column.length;
      float squares = 0;
      for (int64_t k = 0; k < column.length; ++k) squares += row[k] * row[k];
      sum += squares;
    }
    squared_norms_.push_back(sum);
  }
  return absl::OkStatus();
}

Examples::Predictions Examples::Predict(int64_t example, const Shrinkage& shrink,
                                        int partitions) const {
  Predictions p;
  const auto partition_count = static_cast<float>(partitions);
  for (const Sparse& column : sparse_) {
    for (int64_t k = column.starts[example]; k < column.ends[example]; ++k) {
      const float nominal = column.nominal[column.weights[k]];
      const double weight = nominal + column.delta[column.weights[k]] * partition_count;
      p.before += column.value(k) * shrink(nominal);
      p.now += column.value(k) * shrink(weight);
    }
  }
  for (const Dense& column : dense_) {
    const float* row = column.features + example * column.length;
    for (int64_t k = 0; k < column.length; ++k) {
      const float weight = column.nominal[k] + column.delta[k] * partition_count;
      p.before += row[k] * shrink(column.nominal[k]);
      p.now += row[k] * shrink(weight);
    }
  }
  return p;
}

void Examples::Add(int64_t example, double step) {
  for (const Sparse& column : sparse_) {
    for (int64_t k = column.starts[example]; k < column.ends[example]; ++k) {
      column.delta[column.weights[k]] += static_cast<float>(column.value(k) * step);
    }
  }
  for (const Dense& column : dense_) {
    const float* row = column.features + example * column.length;
    for (int64_t k = 0; k < column.length; ++k) {
      column.delta[k] += row[k] * static_cast<float>(step);
    }
  }
}

}  // namespace sluice::linear
