// Losses of a linear model's prediction and their duals, as coordinate ascent needs them.
//
// Thread safety: immutable.
#ifndef SLUICE_OPS_UPDATE_DUAL_LOSS_H_
#define SLUICE_OPS_UPDATE_DUAL_LOSS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace sluice {

// What one example brings to its update. `label` is Label()'s.
struct DualExample {
  double label;
  double weight;
  double dual;          // its dual value
  double prediction;    // of the weights with their changes
  double squared_norm;  // of its features, over l2
};

class DualLoss {
 public:
  // By the name in the attribute loss_type. INVALID_ARGUMENT.
  static absl::StatusOr<std::unique_ptr<DualLoss>> Make(const std::string& loss_type);
  virtual ~DualLoss() = default;

  // The dual value that makes the dual objective greatest, the others being fixed.
  virtual double NewDual(const DualExample& e, int partitions) const = 0;
  virtual double Dual(double dual, double label, double weight) const = 0;
  virtual double Primal(double prediction, double label, double weight) const = 0;
  virtual double PrimalDerivative(double prediction, double label) const = 0;
  virtual double Smoothness() const = 0;
  // The label as the loss takes it. INVALID_ARGUMENT.
  virtual absl::StatusOr<float> Label(float label) const = 0;
};

}  // namespace sluice

#endif  // SLUICE_OPS_UPDATE_DUAL_LOSS_H_
