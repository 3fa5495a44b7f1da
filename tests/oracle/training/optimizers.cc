// Each optimizer on the same model: dense and sparse, ref and resource variables, float and double.
#include <memory>

#include "graph/status.h"
#include "tests/oracle/training/examples.h"
#include "training/optimizer/adagrad.h"
#include "training/optimizer/adam.h"
#include "training/optimizer/adam_async.h"
#include "training/optimizer/ftrl.h"
#include "training/optimizer/gradient_descent.h"
#include "training/optimizer/group_lasso.h"
#include "training/optimizer/rms_prop.h"
#include "training/optimizer/sign.h"
#include "training/optimizer/weight_decay.h"

namespace sluice {
namespace {

using Maker = std::function<std::unique_ptr<Optimizer>(Variable step)>;

template <typename O, typename Options>
Maker Of(Options options) {
  return [options](Variable) { return std::make_unique<O>(options); };
}

// A hyper-parameter that is a function.
HyperParameter Number(float value) {
  return HyperParameter::Function(
      [value](Graph& g) { return Identity(Constant(g, value, "number")); });
}

struct Subject {
  std::string name;
  Maker make;
};

std::vector<Subject> Subjects() {
  return {
      {"sgd", Of<GradientDescent>(GradientDescentOptions{.learning_rate = 0.1f})},
      {"momentum", Of<Momentum>(MomentumOptions{.learning_rate = 0.1f, .momentum = 0.7f})},
      {"nesterov", Of<Momentum>(MomentumOptions{
                       .learning_rate = 0.1f, .momentum = 0.7f, .use_nesterov = true})},
      {"adagrad", Of<Adagrad>(AdagradOptions{.learning_rate = 0.3f})},
      {"adagradda",
       [](Variable step) -> std::unique_ptr<Optimizer> {
         return std::make_unique<AdagradDA>(AdagradDAOptions{.learning_rate = 0.3f,
                                                             .global_step = step,
                                                             .l1_regularization_strength = 0.01f,
                                                             .l2_regularization_strength = 0.02f});
       }},
      {"adadelta", Of<Adadelta>(AdadeltaOptions{.learning_rate = 1.0f, .epsilon = 1e-4f})},
      {"adam", Of<Adam>(AdamOptions{.learning_rate = 0.1f, .beta2 = 0.99f})},
      {"amsgrad", Of<AMSGrad>(AMSGradOptions{.learning_rate = 0.1f, .beta2 = 0.9f})},
      {"adamax", Of<AdaMax>(AdaMaxOptions{.learning_rate = 0.1f})},
      {"adamw",
       Of<AdamW>(AdamWOptions{
           .learning_rate = 0.1f, .weight_decay = 0.1f, .exclude_from_weight_decay = {"bias"}})},
      {"lamb",
       Of<Lamb>(LambOptions{
           .learning_rate = 0.1f, .weight_decay = 0.1f, .exclude_from_weight_decay = {"bias"}})},
      {"adamasync", Of<AdamAsync>(AdamAsyncOptions{.learning_rate = 0.1f})},
      {"adamasyncrms", Of<AdamAsync>(AdamAsyncOptions{
                           .learning_rate = 0.1f, .epsilon = 1e-3f, .apply_sparse_rmsprop = true})},
      {"adagraddecay",
       [](Variable step) -> std::unique_ptr<Optimizer> {
         return std::make_unique<AdagradDecay>(AdagradDecayOptions{.learning_rate = 0.3f,
                                                                   .global_step = step,
                                                                   .accumulator_decay_step = 2,
                                                                   .accumulator_decay_rate = 0.5f});
       }},
      {"groupftrl", Of<GroupFtrl>(GroupFtrlOptions{.learning_rate = 0.5f,
                                                   .l1_regularization_strength = 0.1f,
                                                   .l2_regularization_strength = 0.02f,
                                                   .l21_regularization_strength = 2.0f})},
      {"groupadam", Of<GroupAdam>(GroupAdamOptions{.learning_rate = 0.1f,
                                                   .epsilon = 1e-3f,
                                                   .l1_regularization_strength = 0.1f,
                                                   .l2_regularization_strength = 0.2f,
                                                   .l21_regularization_strength = 3.0f})},
      {"lockedsgd",
       Of<GradientDescent>(GradientDescentOptions{.learning_rate = 0.1f, .use_locking = true})},
      {"lockedmomentum",
       Of<Momentum>(MomentumOptions{.learning_rate = 0.1f, .momentum = 0.7f, .use_locking = true})},
      {"lockedadam",
       Of<Adam>(AdamOptions{.learning_rate = 0.1f, .beta2 = 0.99f, .use_locking = true})},
      {"rmsprop",
       Of<RMSProp>(RMSPropOptions{.learning_rate = 0.05f, .momentum = 0.5f, .epsilon = 1e-3f})},
      {"centered",
       Of<RMSProp>(RMSPropOptions{
           .learning_rate = 0.05f, .momentum = 0.5f, .epsilon = 1e-3f, .centered = true})},
      {"ftrl", Of<Ftrl>(FtrlOptions{.learning_rate = 0.5f,
                                    .l1_regularization_strength = 0.01f,
                                    .l2_regularization_strength = 0.02f,
                                    .beta = 0.1f})},
      {"ftrl2", Of<Ftrl>(FtrlOptions{.learning_rate = 0.5f,
                                     .l1_regularization_strength = 0.01f,
                                     .l2_shrinkage_regularization_strength = 0.05f})},
      {"proximal", Of<ProximalGradientDescent>(
                       ProximalGradientDescentOptions{.learning_rate = 0.1f,
                                                      .l1_regularization_strength = 0.1f,
                                                      .l2_regularization_strength = 0.2f})},
      {"proximaladagrad",
       Of<ProximalAdagrad>(ProximalAdagradOptions{.learning_rate = 0.3f,
                                                  .l1_regularization_strength = 0.1f,
                                                  .l2_regularization_strength = 0.2f})},
      {"powersign", Of<PowerSign>(PowerSignOptions{.learning_rate = 0.02f, .sign_decay = 0.75f})},
      {"addsign", Of<AddSign>(AddSignOptions{.learning_rate = 0.02f, .sign_decay = 0.75f})},
      {"adamtensors",
       [](Variable step) -> std::unique_ptr<Optimizer> {
         return std::make_unique<Adam>(
             AdamOptions{.learning_rate = Number(0.1f),
                         .beta1 = Number(0.8f),
                         .beta2 = Constant(step.graph(), 0.95f, "decay"),
                         .epsilon = Constant(step.graph(), 1e-3f, "small")});
       }},
      {"powersigntensors", Of<PowerSign>(PowerSignOptions{
                               .learning_rate = 0.02f, .beta = Number(0.9f), .sign_decay = 0.75f})},
      {"addsigntensors", Of<AddSign>(AddSignOptions{.learning_rate = 0.02f,
                                                    .alpha = Number(1.0f),
                                                    .beta = Number(0.9f),
                                                    .sign_decay = Number(0.75f)})},
  };
}

// sum((w - x)²) + sum(bias²), or the same for four rows of a table, one of them repeated.
Output Loss(Graph& g, bool sparse, const VariableOptions& how, DataType dtype) {
  const bool is_float = dtype == DT_FLOAT;
  auto tensor = [&](const TensorShape& shape, const std::vector<double>& values) {
    Tensor t(dtype, shape);
    for (size_t i = 0; i < values.size(); ++i) {
      if (is_float) t.data<float>()[i] = static_cast<float>(values[i]);
      if (!is_float) t.data<double>()[i] = values[i];
    }
    return t;
  };
  if (sparse) {
    Variable table(g, "deep/table", tensor({5, 2}, {1, -2, 3, -4, 5, -6, 7, -8, 9, -10}), how);
    const Output ids = Constant(g, {3, 1, 3, 0}, "ids");
    const Output target = Constant(g, tensor({4, 2}, {1, 2, 3, 4, 2, 1, 0, 1}), "target");
    const Output rows = Gather(table, ids);
    return ReduceSum(Square(rows - target));
  }
  Variable w(g, "w", tensor({3}, {1, -2, 3}), how);
  Variable bias(g, "deep/bias", tensor({2, 2}, {0.5, 0.25, -0.5, 4}), how);
  const Output x = Constant(g, tensor({3}, {0.5, 1, -1}), "x");
  const Output first = ReduceSum(Square(w - x));
  return first + ReduceSum(Square(bias));
}

void Train(Graph& g, Spec& spec, const Subject& subject, bool sparse, bool use_resource,
           DataType dtype) {
  const Output loss = Loss(g, sparse, {.use_resource = use_resource}, dtype);
  Variable step =
      GlobalStep(g, {.dtype = DT_INT64, .trainable = false, .use_resource = use_resource});
  const std::unique_ptr<Optimizer> optimizer = subject.make(step);
  const Operation train = optimizer->Minimize(loss, {.global_step = &step});
  for (const std::string& slot : optimizer->GetSlotNames()) {
    for (const Variable& v : TrainableVariables(g)) {
      const std::optional<Variable> made = optimizer->GetSlot(v, slot);
      spec.facts.push_back(StrCat("slot ", slot, " ", v.name(), " ", made ? made->name() : "-"));
    }
  }
  spec.targets = {train};
  spec.WatchVariables(g);
}

}  // namespace

std::vector<Example> OptimizerExamples() {
  std::vector<Example> examples;
  for (const Subject& subject : Subjects()) {
    for (const bool sparse : {false, true}) {
      for (const bool resource : {false, true}) {
        for (const DataType dtype : {DT_FLOAT, DT_DOUBLE}) {
          examples.push_back(
              {StrCat(subject.name, sparse ? "_sparse" : "_dense", resource ? "_resource" : "_ref",
                      dtype == DT_FLOAT ? "_float" : "_double"),
               [=](Graph& g, Spec& spec) { Train(g, spec, subject, sparse, resource, dtype); }});
        }
      }
    }
  }
  return examples;
}

}  // namespace sluice
