// Declares OpTraits, the properties of an op that graph passes, the planner of steps, shape
// inference, lint and device placement need. They are declared with the op, so that these
// components need no lists of ops.
//
//   OP(Reshape, "...")
//       .Input("tensor", "T")
//       ...
//       .View(SizesAfterReshape).Recompute(RecomputeCost::kElements)
//
// Traits that are functions get a node whose inputs are connected and whose shapes are inferred.
// By default, passes know nothing about what an op computes. They may still merge, precompute or
// remove its nodes, unless the op is stateful or calls functions.
// A tensor or node is dead if it is on a branch that the step does not take.
//
// Thread safety: immutable after registration; the functions may be called from any thread.
#ifndef SLUICE_GRAPH_OP_OP_TRAITS_H_
#define SLUICE_GRAPH_OP_OP_TRAITS_H_

#include <cstdint>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "graph/tensor/dtype.h"

namespace sluice {

class ConstantContext;  // graph/infer/constant_context.h
struct ImageRoles;      // graph/infer/image_roles.h
class Node;
struct PartialInts;  // graph/infer/constant_context.h

// The part that a node plays in a step. Roles with the name of a TensorFlow op have that op's
// semantics.
enum class OpRole : uint8_t {
  kKernel,          // runs its kernel
  kConstant,        // has the value of attribute `value`
  kPlaceholder,     // has a value only if it is fed
  kFeed,            // _Arg: returns a value that the caller of the step provides
  kFetch,           // _Retval: returns a value to the caller of the step
  kPass,            // output 0 is input 0
  kNoOp,            // computes nothing
  kControlTrigger,  // computes nothing; runs even if a control input is dead
  kSwitch,
  kMerge,
  kEnter,
  kExit,
  kNextIteration,
  kLoopCond,  // passes on the predicate of a loop
  kSend,      // runs its kernel, which leaves a tensor in the rendezvous
  kReceive,   // runs its kernel, which takes a tensor from the rendezvous
};

constexpr bool RunsWithoutKernel(OpRole role) {
  return role != OpRole::kKernel && role != OpRole::kPlaceholder && role != OpRole::kSend &&
         role != OpRole::kReceive;
}

// The reason why a pass must not merge, move, remove or precompute a node.
enum class Impurity : uint8_t {
  kNone,
  kState,          // the op is stateful
  kControlFlow,    // decides which nodes run, or when
  kPlaceholder,    // stands for a value from outside the graph
  kCheck,          // exists for the error that it may return
  kCallsFunction,  // calls a function, whose nodes may have state
  kNamesObject,    // an input or output is the name, reference or handle of an object with state
};

// The way in which a node uses the variable, or other resource, whose reference or handle it takes.
enum class VariableUse : uint8_t {
  kUpdates,     // reads and writes it; the default
  kAssigns,     // replaces the whole value
  kReads,       // reads some of the value
  kReadsValue,  // output 0 is the value
  kInspects,    // returns shape, type or existence
  kForwards,    // output 0 is the reference or handle
  kCreates,     // creates a variable: output 0 is its reference or handle
};

// The memory in which an op's kernels put its outputs.
enum class OutputMemory : uint8_t {
  kOwn,         // new buffers, or the buffer of an input that no other node reads
  kMayForward,  // shares the buffer of an input, if shapes or values allow it
  kView,        // always shares the buffer of an input
};

// Whether an op is elementwise: each element of output 0 depends only on the elements of the inputs
// at the same position. The kernels of such ops are ElementwiseLoopKernels
// (executor/kernel/elementwise_loops.h).
enum class ElementwiseInputs : uint8_t {
  kNone,       // the op is not elementwise
  kOneShape,   // one input, or several of equal shape
  kBroadcast,  // two inputs, which are broadcast
};

// Whether an op uses only the shapes of its inputs, and which numbers it then returns.
enum class ShapeQuery : uint8_t {
  kNone,    // the op uses the elements of its inputs
  kNumber,  // returns the number of dimensions or of elements of input 0
  kSizes,   // returns the shape of input i as output i
};

// The cost of running a node again in the same step, which saves the memory for keeping its
// outputs. Unless it is kNever, the op's kernels must return the same bits again.
enum class RecomputeCost : uint8_t {
  kNever,     // too expensive, or the bits may differ
  kElements,  // proportional to the size of the outputs
  kProduct,   // as kElements, plus the multiply-adds that `multiply_adds` returns
};

// The number `value` for which `x op value` has the bits of x, as in x * 1. The only exception: a
// signaling NaN may become quiet.
struct NeutralElement {
  double value;
  TypeSet types;                // output types for which this holds
  bool on_either_side = false;  // `value op x` has the bits of x, too
};

// The sizes of a view's dimensions. Each is a number >= 0, -1 if it is unknown, or -2 - d for the
// unknown size of dimension d of the viewed tensor (graph/infer/view_sizes.h).
using ViewSizes = absl::InlinedVector<int64_t, 6>;

struct OpTraits {
  OpRole role = OpRole::kKernel;
  // Why passes must not merge, move, remove or precompute nodes of this op. kNone if they may. The
  // registration sets it for stateful ops, calls of functions, control flow, feeds and fetches. A
  // single node may also be impure because of its tensors' types (graph/ir/purity.h).
  Impurity impurity = Impurity::kNone;
  // The registration sets it to kForwards for roles that pass input 0 on, such as kSwitch.
  VariableUse variable_use = VariableUse::kUpdates;
  OutputMemory output_memory = OutputMemory::kOwn;
  ElementwiseInputs elementwise = ElementwiseInputs::kNone;
  ShapeQuery shape_query = ShapeQuery::kNone;
  // The registration sets it to kElements for elementwise ops.
  RecomputeCost recompute_cost = RecomputeCost::kNever;
  // Nodes run even if an input is dead. Set for _Send and _Recv, because the receiver of a dead
  // tensor must learn that it is dead.
  bool runs_when_dead = false;
  // The op is stateful, but a function that contains it returns the same values if it runs twice in
  // a step and no variable changes in between. The gradient of a call runs the function again.
  bool is_repeatable = false;
  // The op holds state that the replicas of a model share. ReplicaDevices places it on a parameter
  // server.
  bool is_shared_by_replicas = false;
  // The index of the input whose value is the shape of output 0. -1 if there is none.
  int8_t shape_input = -1;
  std::optional<NeutralElement> neutral;

  // Whether output 0 certainly equals input 0 in type, shape and bits, and the node cannot fail.
  bool (*is_identity)(const Node& node) = nullptr;
  // Whether `outer`, whose input 0 is output 0 of `inner`, certainly returns input 0 of `inner`.
  // Both nodes are of this op.
  bool (*undoes)(const Node& outer, const Node& inner) = nullptr;
  // Returns the sizes of output 0, which is a view of input 0, if input 0 has the sizes `in`.
  // nullopt if the sizes are not known or the node may fail.
  std::optional<ViewSizes> (*view_sizes)(const Node& node, const ViewSizes& in) = nullptr;
  // Computes an int32 or int64 output from constants and static shapes, before a step runs. Some
  // elements may stay unknown. nullopt if the value is not known at all.
  std::optional<PartialInts> (*constant_value)(ConstantContext& context) = nullptr;
  // Returns which inputs and outputs are images with channels first (NCHW), so that a pass can
  // change them to channels last. nullopt if the node must keep its layout.
  std::optional<ImageRoles> (*image_roles)(const Node& node) = nullptr;
  // Why an op with attribute data_format has no `image_roles`. Null for all other ops.
  const char* keeps_layout_because = nullptr;
  // Returns the number of multiply-adds of a node. `inputs` has the number of elements of each
  // input. `outputs` is the number of elements of all outputs together. An unknown number of
  // elements counts as 1. Null unless recompute_cost is kProduct.
  double (*multiply_adds)(const Node& node, const double* inputs, double outputs) = nullptr;
};

}  // namespace sluice

#endif  // SLUICE_GRAPH_OP_OP_TRAITS_H_
