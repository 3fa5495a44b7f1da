// A Variable is a tensor that keeps its value between steps. The functions in this header add
// variables to a graph, and ops that read and update them.
//
//   Variable w(g, "w", {784, 10}, GlorotUniform());
//   Output y = MatMul(x, w);                       // reads w
//   Operation more = w.AssignAdd(delta);
//   SLUICE_RETURN_IF_ERROR(session.Run({InitializeVariables(g)}));
//
// There are two kinds, as in TensorFlow. A resource variable (the default) is a handle. Each use in
// an expression adds a new read op, which control dependencies order like any op. A ref variable
// (`.use_resource = false`) is a reference to its buffer. All uses share one read, which may see a
// later update of the same step.
//
// Thread safety: that of the graph, which one thread at a time builds. Steps may read and update a
// variable at the same time: an update by a resource op is atomic, and a read sees it completely or
// not at all. Steps are not ordered otherwise.
// Ownership: a Variable is a small handle that can be copied. It is valid as long as the graph. The
// value belongs to the device (executor/device/device_set.h). The value outlives steps. If sessions
// share a DeviceSet, it outlives these sessions, too.
// Errors: errors of building stay in the graph (Graph::status); the variable is then invalid and
// yields invalid outputs. Errors of a step: FAILED_PRECONDITION if the variable is read before the
// initializer ran; INVALID_ARGUMENT if a new value has another shape.
// Reference: nodes, names and collections are those of tf.compat.v1.Variable.
#ifndef SLUICE_OPS_STATE_VARIABLE_H_
#define SLUICE_OPS_STATE_VARIABLE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/ir/graph.h"
#include "ops/builders/operand.h"
#include "ops/state/initializer.h"

namespace sluice {

// Keys of a graph's collections of variables. Variables in kGlobalVariables are saved in
// checkpoints and shared by the tasks of a cluster. Those in kLocalVariables belong to one task.
// Optimizers update those in kTrainableVariables by default. kGlobalStep contains the counter of
// training steps. Reference: tf.compat.v1.GraphKeys.
inline constexpr std::string_view kGlobalVariables = "variables";
inline constexpr std::string_view kLocalVariables = "local_variables";
inline constexpr std::string_view kTrainableVariables = "trainable_variables";
inline constexpr std::string_view kGlobalStep = "global_step";

// Options of Variable's constructors. The defaults are a trainable float resource variable.
struct VariableOptions {
  // The type of the variable. Constructors that take an initial value use its type instead.
  DataType dtype = DT_FLOAT;
  // Whether optimizers update the variable by default (collection trainable_variables).
  bool trainable = true;
  // Whether to make a resource variable. Otherwise it is a ref variable.
  bool use_resource = true;
  // The collections that get the variable, in addition to trainable_variables.
  std::vector<std::string> collections = {std::string(kGlobalVariables)};
  // The resource container of the value. "" means the container of the open ContainerScope or, if
  // there is no such scope, the device's default container.
  std::string container = "";
  // The key of the value in its container. Variables of several graphs share one value if they have
  // the same device, container and key. "" means the name of the variable.
  std::string shared_name = "";
};

// Options of updates. The defaults are those of TensorFlow's ops.
struct AssignOptions {
  // Name of the new node in the current scope. "": the name of the op, such as "AssignAdd".
  std::string_view name = "";
  // The attribute use_locking of updates of ref variables. nullopt means the op's default: true for
  // Assign, false for other updates.
  std::optional<bool> use_locking;
  // For Assign: whether a value whose shape differs from the variable's is an error. If not, the
  // variable takes the shape of the value.
  bool validate_shape = true;
};

class Variable {
 public:
  // Makes an invalid Variable, which converts to false.
  Variable() = default;

  // Adds the variable's nodes: handle, initial value, initializer and a read. `name` is made unique
  // in the current name scope. The nodes are added outside of all open conds, while loops and
  // control dependencies. `shape` must be fully defined. The value is not set until a step runs the
  // op that InitializeVariables returns.
  Variable(Graph& graph, std::string_view name, const PartialShape& shape,
           const Initializer& initializer, const VariableOptions& options = {},
           At at = At::current());
  // Adds a variable with this initial value, and with its shape and type. Ignores options.dtype.
  Variable(Graph& graph, std::string_view name, const Tensor& initial_value,
           const VariableOptions& options = {}, At at = At::current());

  // Adds a variable whose initial value is the value that the tensor `initial_value` has when the
  // initializer runs. The variable gets the static shape of this tensor. If that shape is partial,
  // a ref variable gets unknown rank instead.
  Variable(Graph& graph, std::string_view name, Output initial_value,
           const VariableOptions& options = {}, At at = At::current());
  template <typename T>
  requires std::is_arithmetic_v<T> Variable(Graph& graph, std::string_view name, T initial_value,
                                            const VariableOptions& options = {},
                                            At at = At::current())
      : Variable(graph, name, Tensor::Scalar(ElementTypeOf<T>(initial_value)), options, at) {}

  // Returns the variable with this name ("w" or "w:0"). Code that did not build the variable finds
  // it this way, for example in a graph that was read from a file. NOT_FOUND if there is none.
  static absl::StatusOr<Variable> Find(const Graph& graph, std::string_view name);

  explicit operator bool() const { return node_ != nullptr; }
  // Name of the node ("w"), or "" if invalid.
  const std::string& name() const { return op().name(); }
  Operation op() const { return Operation(node_); }
  // The device that was requested when the variable was built. "" means any device.
  const std::string& device() const { return op().device(); }
  // The graph of the variable, which must be valid.
  Graph& graph() const { return *node_->graph(); }
  // Type and static shape of the value. DT_INVALID and unknown rank if the variable is invalid.
  DataType dtype() const;
  const PartialShape& shape() const;
  // Whether this is a resource variable, and whether it is in the collection trainable_variables.
  bool is_resource() const { return is_resource_; }
  bool trainable() const { return trainable_; }

  // The output of the variable's node: a resource handle, or the reference of a ref variable. It is
  // an input of the ops that update the variable. Pass it to Gradients as an x.
  Output handle() const { return Output(node_); }
  Output Ref() const { return handle(); }
  // Returns the value. For a resource variable, each call adds a new ReadVariableOp. For a ref
  // variable, this is snapshot().
  Output Read(At at = At::current()) const;
  operator Output() const { return Read(); }  // NOLINT: for use in expressions

  // The output of the read op that the constructor added: `w/read` for a ref variable, and
  // `w/Read/ReadVariableOp` for a resource variable. This read does not wait for updates. Use it
  // for values that do not change, or for savers.
  Output snapshot() const { return snapshot_; }
  // The op that assigns the initial value, and that value.
  Operation initializer() const { return initializer_; }
  Output initial_value() const { return initial_value_; }
  // Returns a bool scalar that tells whether the variable has a value when the op runs.
  Output IsInitialized(std::string_view name = "", At at = At::current()) const;

  // These methods add an op that updates the variable when it runs, and return the op. Output 0 of
  // a ref variable's op is the updated reference. AssignAdd adds `value`, AssignSub subtracts it.
  // `value` must have the type and shape of the variable. A number takes the type of the variable.
  // Assign accepts another shape if validate_shape is false.
  Operation Assign(Operand value, const AssignOptions& options = {}, At at = At::current()) const;
  Operation AssignAdd(Operand value, const AssignOptions& options = {},
                      At at = At::current()) const;
  Operation AssignSub(Operand value, const AssignOptions& options = {},
                      At at = At::current()) const;

  // These methods add an op that updates row indices[i] of the variable with rows[i], in the order
  // of i. ScatterUpdate stores the new row, ScatterAdd adds it, and ScatterSub subtracts it.
  // `indices` is int32 or int64 and may contain an index several times. The shape of `rows` is that
  // of `indices`, followed by the variable's shape without dimension 0. A scalar `rows` stands for
  // rows of equal elements. If an index is out of range, the step fails with INVALID_ARGUMENT.
  Operation ScatterUpdate(Output indices, Output rows, const AssignOptions& options = {},
                          At at = At::current()) const;
  Operation ScatterAdd(Output indices, Output rows, const AssignOptions& options = {},
                       At at = At::current()) const;
  Operation ScatterSub(Output indices, Output rows, const AssignOptions& options = {},
                       At at = At::current()) const;

  // Whether both objects refer to the same variable.
  bool operator==(const Variable& other) const { return node_ == other.node_; }

 private:
  struct FirstValue;
  void Make(Graph& graph, std::string_view name, const PartialShape& shape, const FirstValue& first,
            const VariableOptions& options, At at);
  void MakeRef(const PartialShape& shape, const VariableOptions& options, const std::string& prefix,
               At at);
  void MakeResource(const PartialShape& shape, const VariableOptions& options,
                    const std::string& prefix, At at);
  void Register(Graph& graph, const VariableOptions& options) const;
  Operation Update(std::string_view ref_op, std::string_view resource_op, Operand value,
                   const AssignOptions& options, At at) const;
  Operation Scatter(std::string_view op, Output indices, Output rows, const AssignOptions& options,
                    At at) const;

  Node* node_ = nullptr;
  Output snapshot_;
  Operation initializer_;
  Output initial_value_;
  bool is_resource_ = false;
  bool trainable_ = false;
};

// Returns the variables of a collection, in the order of the collection. Skips entries that are not
// variables. Empty if there is no such collection.
std::vector<Variable> Variables(const Graph& graph, std::string_view collection);
std::vector<Variable> GlobalVariables(const Graph& graph);
std::vector<Variable> LocalVariables(const Graph& graph);
std::vector<Variable> TrainableVariables(const Graph& graph);

// Adds an op that runs the initializers of all global (or local) variables that were added so far,
// or those of `variables`. They run in no particular order. So an initial value that reads another
// resource variable may fail with FAILED_PRECONDITION, because that variable has no value yet. An
// initial value that reads another ref variable uses that variable's initial value instead, as long
// as the variable has no value. Variables that are added later, such as an optimizer's, need
// another call.
Operation InitializeVariables(Graph& graph, std::string_view name = "init", At at = At::current());
Operation InitializeLocalVariables(Graph& graph, std::string_view name = "init",
                                   At at = At::current());
Operation InitializeVariables(Graph& graph, const std::vector<Variable>& variables,
                              std::string_view name = "init", At at = At::current());

// Returns a string vector with the names of the variables that have no value. It considers
// `variables`, or all global and local variables. The vector is computed on /device:CPU:0.
Output ReportUninitializedVariables(Graph& graph,
                                    std::string_view name = "report_uninitialized_variables",
                                    At at = At::current());
Output ReportUninitializedVariables(Graph& graph, const std::vector<Variable>& variables,
                                    std::string_view name = "report_uninitialized_variables",
                                    At at = At::current());

// Returns the graph's counter of training steps, a scalar variable named "global_step". The first
// call adds it with `options`, and later calls ignore them. An optimizer that gets the variable as
// an option increments it once per update.
//
//   Variable step = GlobalStep(g);
//   Operation train = Adam().Minimize(loss, {.global_step = &step});
Variable GlobalStep(Graph& graph,
                    const VariableOptions& options = {.dtype = DT_INT64, .trainable = false},
                    At at = At::current());

// These functions call the method of `v` that has the same name.
Operation Assign(const Variable& v, Operand value, const AssignOptions& options = {},
                 At at = At::current());
Operation AssignAdd(const Variable& v, Operand value, const AssignOptions& options = {},
                    At at = At::current());
Operation AssignSub(const Variable& v, Operand value, const AssignOptions& options = {},
                    At at = At::current());

// Returns the rows of `params` at `indices`. The shape is that of `indices`, followed by the
// variable's shape without dimension 0. For a resource variable, adds a ResourceGather, which reads
// only these rows and has a sparse gradient. For a ref variable, adds a GatherV2.
Output Gather(const Variable& params, Output indices, std::string_view name = "",
              At at = At::current());

}  // namespace sluice

#endif  // SLUICE_OPS_STATE_VARIABLE_H_
