// The base class of layers. A layer has its own name scope, creates its variables at the first
// call, and adds regularization losses for them.
//
//   Output hidden = layers::Dense(128, {.activation = Relu})(x);   // dense/kernel, dense/bias
//   layers::Dense shared(10, {.name = "logits"});
//   Output a = shared(x), b = shared(y);                           // the same variables
//
// The first call creates the variables, whose shapes fit the input of this call, under a name that
// is unused in the open name scope ("dense", "dense_1"). Later calls use the same variables. Layers
// that tf.layers has too use its names of nodes, variables and collections.
//
// Thread safety: that of the graph, which one thread at a time builds.
// Ownership: the graph owns the variables, so a layer may be a temporary. After its first call a
// layer belongs to one graph and must not be copied: the copies would share variables or not,
// depending on the time of the copy.
// Errors: stay in the graph (Graph::status) with the caller's line, and the outputs are then
// invalid. INVALID_ARGUMENT if a size that determines a variable's shape is unknown.
// Reference: tf.layers.Layer.
#ifndef SLUICE_TRAINING_LAYERS_LAYER_H_
#define SLUICE_TRAINING_LAYERS_LAYER_H_

#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "graph/build/scopes.h"
#include "graph/ir/graph.h"
#include "ops/random/initializer.h"
#include "ops/state/variable.h"

namespace sluice {

// Collections, as TensorFlow names them: ops that a training step has to run with the update
// (moving averages), losses, and regularization losses.
inline constexpr std::string_view kUpdateOps = "update_ops";
inline constexpr std::string_view kLosses = "losses";
inline constexpr std::string_view kRegularizationLosses = "regularization_losses";

namespace layers {

// A function of a tensor: a lambda or a builder function (`Relu`). Empty: the identity. The result
// has the shape and type of the argument.
//
//   layers::Dense a(10, {.activation = Tanh});
//   layers::Dense b(10, {.activation = [](Output x) { return x * Sigmoid(x); }});
class Activation {
 public:
  Activation() = default;
  template <typename F>
  requires std::invocable<F, Output> Activation(F function)  // NOLINT: functions are activations
      : function_(std::move(function)) {}
  template <typename Attrs>
  Activation(Output (*op)(Output, const Attrs&, At))  // NOLINT
      : function_([op](Output x) { return op(x, {}, At::current()); }) {}

  Output operator()(Output x) const { return function_ && x ? function_(x) : x; }

 private:
  std::function<Output(Output)> function_;
};

// Computes the regularization loss of a variable, a scalar. Called in the scope
// `<variable>/Regularizer/`.
using Regularizer = std::function<Output(const Variable&)>;

// Regularizers of a variable w: L1 computes scale * sum(|w|), L2 computes scale * sum(w²) / 2, and
// L1L2 computes the sum of both with the scales `l1` and `l2`. losses::Total includes these losses.
//
//   layers::Dense hidden(128, {.kernel_regularizer = layers::L2(1e-4)});
Regularizer L1(double scale);
Regularizer L2(double scale);
Regularizer L1L2(double l1, double l2);

// Describes one variable of a layer to MakeVariable. It holds references to the initializer and the
// regularizer, so it must not outlive the call of MakeVariable.
struct Weight {
  std::string_view name;
  TensorShape shape;
  const Initializer& initializer;
  const Regularizer& regularizer = {};
  bool trainable = true;
};

// The base class of layers. The constructor of a derived class only stores options. Its operator()
// opens a Call, and creates the variables if they do not exist yet.
//
//   Output Scale::operator()(Output x, At at) {
//     if (!x) return Output();
//     Call call(*this, *x.graph());
//     if (!factor_) factor_ = MakeVariable(*x.graph(), x.dtype(), {"factor", {}, ones_}, at);
//     return x * factor_;
//   }
class Layer {
 public:
  // The full name of the layer's scope, such as "scope/dense/". "" before the first call.
  const std::string& prefix() const { return prefix_; }

 protected:
  Layer(std::string name, bool use_resource, bool trainable = true)
      : name_(std::move(name)), use_resource_(use_resource), trainable_(trainable) {}

  // Opens the layer's name scope during its lifetime, for the nodes of one call of the layer. The
  // first Call chooses the name of the scope.
  class Call {
   public:
    Call(Layer& layer, Graph& graph)
        : scope_(graph, layer.prefix_.empty() ? layer.name_ : layer.prefix_) {
      layer.prefix_ = scope_.prefix();
    }

   private:
    NameScope scope_;
  };

  // Creates a variable of the layer and, with a regularizer, its loss in collection
  // kRegularizationLosses. `dtype` is the type of the layer's inputs. Invalid after an error.
  Variable MakeVariable(Graph& graph, DataType dtype, const Weight& weight, At at) const;
  // Creates "kernel" and, if the options request it, "bias" with `units` elements, once. `o` is a
  // DenseOptions or a Conv2DOptions.
  template <typename Options>
  void MakeKernelAndBias(Graph& graph, DataType dtype, const TensorShape& shape, int64_t units,
                         const Options& o, At at, Variable* kernel, Variable* bias) const {
    if (*kernel) return;
    *kernel = MakeVariable(graph, dtype,
                           {"kernel", shape, o.kernel_initializer, o.kernel_regularizer}, at);
    if (!o.use_bias) return;
    *bias =
        MakeVariable(graph, dtype, {"bias", {units}, o.bias_initializer, o.bias_regularizer}, at);
  }
  // Returns the size of dimension `dim` of `x` (-1: the last). If the size is unknown or `x` has a
  // rank below `rank`, sets an error in the graph and returns nullopt.
  std::optional<int64_t> KnownDim(Output x, int rank, int dim, At at) const;
  void SetError(Graph& graph, const absl::Status& status, At at) const;
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  bool use_resource_;
  bool trainable_;
  std::string prefix_;
};

// Adds an op that uses the value of a variable, and the read of the variable. As in TensorFlow, the
// read is named after the op: "MatMul/ReadVariableOp" for a MatMul. `make` adds the op; it receives
// the value and the op's name. MatMulWith and BiasAddWith do this for the ops MatMul and BiasAdd.
Output WithRead(std::string_view name, const Variable& weight, At at,
                const std::function<Output(Output value, std::string_view name)>& make);
Output MatMulWith(Output x, const Variable& weight, At at);
Output BiasAddWith(Output x, const Variable& bias, At at);

}  // namespace layers
}  // namespace sluice

#endif  // SLUICE_TRAINING_LAYERS_LAYER_H_
