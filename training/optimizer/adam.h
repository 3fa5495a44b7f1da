// Adam (Kingma and Ba 2014), in TensorFlow's form: epsilon is the paper's "epsilon hat".
#ifndef SLUICE_TRAINING_OPTIMIZER_ADAM_H_
#define SLUICE_TRAINING_OPTIMIZER_ADAM_H_

#include "training/optimizer/hyper_parameter.h"
#include "training/optimizer/optimizer.h"

namespace sluice {

struct AdamOptions {
  HyperParameter learning_rate = 0.001f;
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float epsilon = 1e-8f;
  bool use_locking = false;
  std::string name = "Adam";
};

// Slots "m" and "v", saved as "<var>/Adam" and "<var>/Adam_1"; variables beta1_power, beta2_power.
// Sparse gradients decay the moments of all rows, as if the gradient were dense with zeros.
class Adam : public Optimizer {
 public:
  explicit Adam(AdamOptions options = {});

 protected:
  void CreateSlots(const std::vector<Variable>& vars) override;
  void Prepare(Graph& graph) override;
  Operation ApplyDense(Output grad, const Variable& var) override;
  Operation ApplySparse(const IndexedSlices& grad, const Variable& var) override;
  Operation Finish(Graph& graph, const std::vector<Operation>& updates,
                   std::string_view name) override;

 private:
  AdamOptions options_;
  Output learning_rate_;
  Output beta1_;
  Output beta2_;
  Output epsilon_;
};

}  // namespace sluice

#endif  // SLUICE_TRAINING_OPTIMIZER_ADAM_H_
