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

// Calls visit("field", &Options::field) for each hyper-parameter that the options declare. Make
// does not compile if they have fields that are listed neither here nor in FieldsForPrograms.
template <typename Options, typename Visit>
constexpr void ForEachHyperParameter(Visit visit) {
#define SLUICE_FIELD(name) \
  if constexpr (requires { &Options::name; }) visit(#name, &Options::name)
  SLUICE_FIELD(learning_rate);
  SLUICE_FIELD(learning_rate_power);
  SLUICE_FIELD(alpha);
  SLUICE_FIELD(base);
  SLUICE_FIELD(beta);
  SLUICE_FIELD(beta1);
  SLUICE_FIELD(beta2);
  SLUICE_FIELD(centered);
  SLUICE_FIELD(decay);
  SLUICE_FIELD(epsilon);
  SLUICE_FIELD(initial_accumulator_value);
  SLUICE_FIELD(l1_regularization_strength);
  SLUICE_FIELD(l2_regularization_strength);
  SLUICE_FIELD(l2_shrinkage_regularization_strength);
  SLUICE_FIELD(momentum);
  SLUICE_FIELD(rho);
  SLUICE_FIELD(sign_decay);
  SLUICE_FIELD(use_nesterov);
  SLUICE_FIELD(weight_decay);
#undef SLUICE_FIELD
}

// Converts to the type of any field. FieldsOf counts how many of these values initialize a struct.
struct AnyField {
  template <typename T>
  operator T() const;  // NOLINT: converts implicitly, as the count needs
};

template <typename Options, typename... Fields>
consteval int FieldsOf(Fields... fields) {
  if constexpr (requires { Options{fields..., AnyField()}; }) {
    return FieldsOf<Options>(fields..., AnyField());
  } else {
    return sizeof...(fields);
  }
}

template <typename Options>
consteval int HyperParametersOf() {
  int count = 0;
  ForEachHyperParameter<Options>([&count](auto...) { ++count; });
  return count;
}

// The number of fields that are no numbers. C cannot set them.
template <typename Options>
consteval int FieldsForPrograms() {
  int count = 0;
  if constexpr (requires { &Options::use_locking; }) ++count;
  if constexpr (requires { &Options::name; }) ++count;
  if constexpr (requires { &Options::accum_name; }) ++count;
  if constexpr (requires { &Options::linear_name; }) ++count;
  if constexpr (requires { &Options::exclude_from_weight_decay; }) ++count;
  return count;
}

using Made = absl::StatusOr<std::unique_ptr<Optimizer>>;
using Given = absl::Span<const sluice_hyper_parameter>;

template <typename Class, typename Options>
Made Make(const std::string& optimizer, Given given) {
  static_assert(FieldsOf<Options>() == HyperParametersOf<Options>() + FieldsForPrograms<Options>());
  Options options;
  std::map<std::string, double> values;
  for (const sluice_hyper_parameter& one : given) values[one.name] = one.value;
  std::vector<std::string> known;
  ForEachHyperParameter<Options>([&]<typename T>(const char* name, T Options::*field) {
    known.push_back(name);
    const auto it = values.find(name);
    if (it == values.end()) return;
    if constexpr (std::is_same_v<T, bool>) {
      options.*field = it->second != 0;
    } else {
      options.*field = static_cast<T>(it->second);
    }
    values.erase(it);
  });
  if (values.empty()) return std::make_unique<Class>(options);
  return absl::NotFoundError(StrCat("optimizer '", optimizer, "' has no hyper-parameter '",
                                    values.begin()->first,
                                    "'; it has: ", absl::StrJoin(known, ", ")));
}

using Maker = Made (*)(const std::string& optimizer, Given given);

const std::map<std::string, Maker>& Makers() {
  static const auto* makers = new std::map<std::string, Maker>{
      {"AMSGrad", Make<AMSGrad, AMSGradOptions>},
      {"AdaMax", Make<AdaMax, AdaMaxOptions>},
      {"Adadelta", Make<Adadelta, AdadeltaOptions>},
      {"Adagrad", Make<Adagrad, AdagradOptions>},
      {"Adam", Make<Adam, AdamOptions>},
      {"AdamW", Make<AdamW, AdamWOptions>},
      {"AddSign", Make<AddSign, AddSignOptions>},
      {"Ftrl", Make<Ftrl, FtrlOptions>},
      {"GradientDescent", Make<GradientDescent, GradientDescentOptions>},
      {"Lamb", Make<Lamb, LambOptions>},
      {"Momentum", Make<Momentum, MomentumOptions>},
      {"PowerSign", Make<PowerSign, PowerSignOptions>},
      {"ProximalAdagrad", Make<ProximalAdagrad, ProximalAdagradOptions>},
      {"ProximalGradientDescent", Make<ProximalGradientDescent, ProximalGradientDescentOptions>},
      {"RMSProp", Make<RMSProp, RMSPropOptions>},
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
  return maker->second(name, parameters);
}

}  // namespace sluice::c_api
