#include "ops/update/dual_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/status.h"

namespace sluice {
namespace {

constexpr int kNewtonSteps = 10;  // enough, because Newton's method converges quadratically
constexpr double kInfeasible = std::numeric_limits<double>::max();

// Converts a label 0 or 1 to -1 or 1.
absl::StatusOr<float> BinaryLabel(float label) {
  if (label == 0) return -1.0f;
  if (label == 1) return 1.0f;
  return InvalidArgument(
      "Only labels of 0.0 or 1.0 are supported right now. Found example with label: ", label);
}

// Returns the derivative of the prediction with respect to the dual value.
double Strength(const DualExample& e, int partitions) {
  return partitions * e.squared_norm * e.weight;
}

// Clips `dual` such that label * dual is in [0, 1]. Labels are -1 or 1.
double Feasible(double dual, double label) {
  if (label * dual < 0) return 0;
  return label * dual > 1 ? label : dual;
}

class Logistic : public DualLoss {
 public:
  double NewDual(const DualExample& e, int partitions) const override {
    // Finds x by Newton's method. The dual value is (1 + tanh x) / (2 * label).
    const double strength = Strength(e, partitions);
    double x = 0;
    for (int i = 0; i < kNewtonSteps; ++i) {
      const double t = std::tanh(x);
      const double value =
          -2 * e.label * x - e.prediction - strength * (0.5 * (1 + t) / e.label - e.dual);
      const double slope = -2 * e.label - strength * (1 - t * t) * 0.5 / e.label;
      x -= value / slope;
    }
    return 0.5 * (1 + std::tanh(x)) / e.label;
  }
  double Dual(double dual, double label, double weight) const override {
    const double a = dual * label, b = 1 - a;
    return (a * (a > 0 ? std::log(a) : 0) + b * (b > 0 ? std::log(b) : 0)) * weight;
  }
  double Primal(double prediction, double label, double weight) const override {
    const double y = label * prediction;
    return y > 0 ? std::log1p(std::exp(-y)) * weight : (std::log1p(std::exp(y)) - y) * weight;
  }
  double PrimalDerivative(double prediction, double label) const override {
    const double y = label * prediction;
    return -label * (y > 0 ? std::exp(-y) / (1 + std::exp(-y)) : 1 / (1 + std::exp(y)));
  }
  double Smoothness() const override { return 4; }
  absl::StatusOr<float> Label(float label) const override { return BinaryLabel(label); }
};

class Squared : public DualLoss {
 public:
  double NewDual(const DualExample& e, int partitions) const override {
    return e.dual + (e.label - e.dual - e.prediction) / (1 + Strength(e, partitions));
  }
  double Dual(double dual, double label, double weight) const override {
    return dual * (0.5 * dual - label) * weight;
  }
  double Primal(double prediction, double label, double weight) const override {
    return (prediction - label) * (prediction - label) * weight * 0.5;
  }
  double PrimalDerivative(double prediction, double label) const override {
    return prediction - label;
  }
  double Smoothness() const override { return 1; }
  absl::StatusOr<float> Label(float label) const override { return label; }
};

class Hinge : public DualLoss {
 public:
  double NewDual(const DualExample& e, int partitions) const override {
    return Feasible(e.dual + (e.label - e.prediction) / Strength(e, partitions), e.label);
  }
  double Dual(double dual, double label, double weight) const override {
    const double y = dual * label;
    return y < 0 || y > 1 ? kInfeasible : -y * weight;
  }
  double Primal(double prediction, double label, double weight) const override {
    return std::max(0.0, 1 - label * prediction) * weight;
  }
  double PrimalDerivative(double prediction, double label) const override {
    return label * prediction < 1 ? -label : 0;
  }
  double Smoothness() const override { return 0; }
  absl::StatusOr<float> Label(float label) const override { return BinaryLabel(label); }
};

class SmoothHinge : public DualLoss {
 public:
  double NewDual(const DualExample& e, int partitions) const override {
    const double way = e.label - e.prediction - kGamma * e.dual;
    return Feasible(e.dual + way / (Strength(e, partitions) + kGamma), e.label);
  }
  double Dual(double dual, double label, double weight) const override {
    const double y = dual * label;
    return y < 0 || y > 1 ? kInfeasible : (-y + 0.5 * kGamma * dual * dual) * weight;
  }
  double Primal(double prediction, double label, double weight) const override {
    const double gap = 1 - label * prediction;
    if (gap <= 0) return 0;
    return gap >= kGamma ? (gap - kGamma / 2) * weight : gap * gap * weight * 0.5 / kGamma;
  }
  double PrimalDerivative(double prediction, double label) const override {
    const double gap = 1 - label * prediction;
    if (gap <= 0) return 0;
    return gap >= kGamma ? -label : (prediction - label) / kGamma;
  }
  double Smoothness() const override { return kGamma; }
  absl::StatusOr<float> Label(float label) const override { return BinaryLabel(label); }

 private:
  static constexpr double kGamma = 1;
};

class Poisson : public DualLoss {
 public:
  double NewDual(const DualExample& e, int partitions) const override {
    // Finds x by Newton's method. The dual value is label - exp x.
    const double strength = Strength(e, partitions);
    double x = e.label > e.dual ? std::log(e.label - e.dual) : 0;
    for (int i = 0; i < kNewtonSteps; ++i) {
      const double exp_x = std::exp(x);
      const double value = x - e.prediction - strength * (e.label - e.dual - exp_x);
      x -= value / (1 + strength * exp_x);
    }
    return e.label - std::exp(x);
  }
  double Dual(double dual, double label, double weight) const override {
    const double rest = label - dual;
    if (rest == 0) return 0;
    return rest < 0 ? kInfeasible : rest * (std::log(rest) - 1) * weight;
  }
  double Primal(double prediction, double label, double weight) const override {
    return (std::exp(prediction) - prediction * label) * weight;
  }
  double PrimalDerivative(double prediction, double label) const override {
    return std::exp(prediction) - label;
  }
  double Smoothness() const override { return 1; }
  absl::StatusOr<float> Label(float label) const override {
    if (label >= 0) return label;
    return InvalidArgument(
        "Only non-negative labels can be used with the Poisson log loss. Found example with "
        "label: ",
        label);
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<DualLoss>> DualLoss::Make(const std::string& loss_type) {
  std::unique_ptr<DualLoss> loss;
  if (loss_type == "logistic_loss") loss = std::make_unique<Logistic>();
  if (loss_type == "squared_loss") loss = std::make_unique<Squared>();
  if (loss_type == "hinge_loss") loss = std::make_unique<Hinge>();
  if (loss_type == "smooth_hinge_loss") loss = std::make_unique<SmoothHinge>();
  if (loss_type == "poisson_loss") loss = std::make_unique<Poisson>();
  SLUICE_INVALID_IF(loss == nullptr, "Unsupported loss type: ", loss_type);
  return loss;
}

}  // namespace sluice
