// AdaMax: Adam in which the largest recent gradient replaces the root of the second moment (Kingma
// and Ba 2014, section 7).
#ifndef SLUICE_TRAINING_OPTIMIZER_ADAMAX_H_
#define SLUICE_TRAINING_OPTIMIZER_ADAMAX_H_

#include <string>

#include "training/optimizer/moments.h"

namespace sluice {

struct AdaMaxOptions {
  HyperParameter learning_rate = 0.001f;
  HyperParameter beta1 = 0.9f;
  HyperParameter beta2 = 0.999f;
  HyperParameter epsilon = 1e-8f;
  bool use_locking = false;
  std::string name = "AdaMax";
};

// Slots "m" and "v", saved as "<var>/AdaMax" and "<var>/AdaMax_1". A sparse gradient moves its own
// rows only.
class AdaMax : public MomentOptimizer {
 public:
  explicit AdaMax(const AdaMaxOptions& options = {});

 protected:
  Scalars ScalarsFor(const Variable& var) const override;
  Operation ApplySparse(const IndexedSlices& grad, const Variable& var) override;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_ADAMAX_H_
