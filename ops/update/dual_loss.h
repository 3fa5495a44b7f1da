// Losses of the predictions of a linear model, and the duals of these losses, for dual coordinate
// ascent (sdca.cc).
//
// Thread safety: immutable.
#ifndef SLUICE_OPS_UPDATE_DUAL_LOSS_H_
#define SLUICE_OPS_UPDATE_DUAL_LOSS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace sluice {

// One example of a batch. `label` is a result of DualLoss::Label.
struct DualExample {
  double label;
  double weight;
  double dual;          // the example's variable in the dual objective
  double prediction;    // with the weights as changed so far (Examples::Predictions::now)
  double squared_norm;  // squared norm of the features, divided by attribute l2
};

class DualLoss {
 public:
  // Returns the loss that attribute loss_type names. INVALID_ARGUMENT if no loss has this name.
  static absl::StatusOr<std::unique_ptr<DualLoss>> Make(const std::string& loss_type);
  virtual ~DualLoss() = default;

  // The dual value that maximises the dual objective while the other dual values are fixed.
  // `partitions` is the attribute num_loss_partitions.
  virtual double NewDual(const DualExample& e, int partitions) const = 0;
  virtual double Dual(double dual, double label, double weight) const = 0;
  virtual double Primal(double prediction, double label, double weight) const = 0;
  virtual double PrimalDerivative(double prediction, double label) const = 0;
  virtual double Smoothness() const = 0;
  // The label in the form that the loss needs: -1 and 1 for classes. INVALID_ARGUMENT if the loss
  // does not allow the label.
  virtual absl::StatusOr<float> Label(float label) const = 0;
};

}  // namespace sluice

#endif  // SLUICE_OPS_UPDATE_DUAL_LOSS_H_
