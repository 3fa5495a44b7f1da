#include "c_api/optimizers.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "graph/status.h"
#include "training/optimizer/adagrad.h"
#include "training/optimizer/adam.h"
#include "training/optimizer/ftrl.h"
#include "training/optimizer/gradient_descent.h"
#include "training/optimizer/momentum.h"
#include "training/optimizer/rms_prop.h"
#include "training/optimizer/sign.h"
#include "training/optimizer/weight_decay.h"

namespace sluice::c_api {
namespace {

// The given hyper-parameters, and the names of those that the optimizer has.
class Parameters {
 public:
  explicit Parameters(absl::Span<const sluice_hyper_parameter> given) {
    for (const sluice_hyper_parameter& one : given) given_[one.name] = one.value;
  }
  // Sets `*field` if the hyper-parameter is given.
  template <typename T>
  void Set(const char* name, T* field) {
    known_.push_back(name);
    if (const auto it = given_.find(name); it != given_.end()) {
      if constexpr (std::is_same_v<T, bool>) {
        *field = it->second != 0;
      } else {
        *field = static_cast<T>(it->second);
      }
      given_.erase(it);
    }
  }
  template <typename Options>
  void SetMoments(Options* o) {
    Set("learning_rate", &o->learning_rate);
    Set("beta1", &o->beta1);
    Set("beta2", &o->beta2);
    Set("epsilon", &o->epsilon);
  }
  template <typename Options>
  void SetPenalties(Options* o) {
    Set("l1_regularization_strength", &o->l1_regularization_strength);
    Set("l2_regularization_strength", &o->l2_regularization_strength);
  }
  absl::Status Unknown(const std::string& optimizer) const {
    if (given_.empty()) return absl::OkStatus();
    return absl::NotFoundError(StrCat("optimizer '", optimizer, "' has no hyper-parameter '",
                                      given_.begin()->first,
                                      "'; it has: ", absl::StrJoin(known_, ", ")));
  }

 private:
  std::map<std::string, double> given_;  // not yet set
  std::vector<std::string> known_;
};

using Made = std::unique_ptr<Optimizer>;

template <typename Class, typename Options>
Made MakeWithMoments(Parameters& p) {
  Options o;
  p.SetMoments(&o);
  return std::make_unique<Class>(o);
}

template <typename Class, typename Options>
Made MakeWithDecay(Parameters& p) {
  Options o;
  p.SetMoments(&o);
  p.Set("weight_decay", &o.weight_decay);
  return std::make_unique<Class>(o);
}

Made MakeGradientDescent(Parameters& p) {
  GradientDescentOptions o;
  p.Set("learning_rate", &o.learning_rate);
  return std::make_unique<GradientDescent>(o);
}

Made MakeProximalGradientDescent(Parameters& p) {
  ProximalGradientDescentOptions o;
  p.Set("learning_rate", &o.learning_rate);
  p.SetPenalties(&o);
  return std::make_unique<ProximalGradientDescent>(o);
}

Made MakeMomentum(Parameters& p) {
  MomentumOptions o;
  p.Set("learning_rate", &o.learning_rate);
  p.Set("momentum", &o.momentum);
  p.Set("use_nesterov", &o.use_nesterov);
  return std::make_unique<Momentum>(o);
}

Made MakeAdagrad(Parameters& p) {
  AdagradOptions o;
  p.Set("learning_rate", &o.learning_rate);
  p.Set("initial_accumulator_value", &o.initial_accumulator_value);
  return std::make_unique<Adagrad>(o);
}

Made MakeProximalAdagrad(Parameters& p) {
  ProximalAdagradOptions o;
  p.Set("learning_rate", &o.learning_rate);
  p.Set("initial_accumulator_value", &o.initial_accumulator_value);
  p.SetPenalties(&o);
  return std::make_unique<ProximalAdagrad>(o);
}

Made MakeRMSProp(Parameters& p) {
  RMSPropOptions o;
  p.Set("learning_rate", &o.learning_rate);
  p.Set("decay", &o.decay);
  p.Set("momentum", &o.momentum);
  p.Set("epsilon", &o.epsilon);
  p.Set("centered", &o.centered);
  return std::make_unique<RMSProp>(o);
}

Made MakeAdadelta(Parameters& p) {
  AdadeltaOptions o;
  p.Set("learning_rate", &o.learning_rate);
  p.Set("rho", &o.rho);
  p.Set("epsilon", &o.epsilon);
  return std::make_unique<Adadelta>(o);
}

Made MakeFtrl(Parameters& p) {
  FtrlOptions o;
  p.Set("learning_rate", &o.learning_rate);
  p.Set("learning_rate_power", &o.learning_rate_power);
  p.Set("initial_accumulator_value", &o.initial_accumulator_value);
  p.SetPenalties(&o);
  p.Set("l2_shrinkage_regularization_strength", &o.l2_shrinkage_regularization_strength);
  p.Set("beta", &o.beta);
  return std::make_unique<Ftrl>(o);
}

template <typename Options>
void SetSigns(Parameters& p, Options* o) {
  p.Set("learning_rate", &o->learning_rate);
  p.Set("beta", &o->beta);
  p.Set("sign_decay", &o->sign_decay);
}

Made MakePowerSign(Parameters& p) {
  PowerSignOptions o;
  SetSigns(p, &o);
  p.Set("base", &o.base);
  return std::make_unique<PowerSign>(o);
}

Made MakeAddSign(Parameters& p) {
  AddSignOptions o;
  SetSigns(p, &o);
  p.Set("alpha", &o.alpha);
  return std::make_unique<AddSign>(o);
}

const std::map<std::string, Made (*)(Parameters&)>& Makers() {
  static const auto* makers = new std::map<std::string, Made (*)(Parameters&)>{
      {"AMSGrad", MakeWithMoments<AMSGrad, AMSGradOptions>},
      {"AdaMax", MakeWithMoments<AdaMax, AdaMaxOptions>},
      {"Adadelta", MakeAdadelta},
      {"Adagrad", MakeAdagrad},
      {"Adam", MakeWithMoments<Adam, AdamOptions>},
      {"AdamW", MakeWithDecay<AdamW, AdamWOptions>},
      {"AddSign", MakeAddSign},
      {"Ftrl", MakeFtrl},
      {"GradientDescent", MakeGradientDescent},
      {"Lamb", MakeWithDecay<Lamb, LambOptions>},
      {"Momentum", MakeMomentum},
      {"PowerSign", MakePowerSign},
      {"ProximalAdagrad", MakeProximalAdagrad},
      {"ProximalGradientDescent", MakeProximalGradientDescent},
      {"RMSProp", MakeRMSProp},
  };
  return *makers;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Optimizer>> MakeOptimizer(
    const std::string& name, absl::Span<const sluice_hyper_parameter> parameters) {
  const auto maker = Makers().find(name);
  if (maker == Makers().end()) {
    std::vector<std::string> names;
    for (const auto& [known, make] : Makers()) names.push_back(known);
    return absl::NotFoundError(
        StrCat("no optimizer '", name, "'; there are: ", absl::StrJoin(names, ", ")));
  }
  Parameters given(parameters);
  Made made = maker->second(given);
  SLUICE_RETURN_IF_ERROR(given.Unknown(name));
  return made;
}

}  // namespace sluice::c_api
