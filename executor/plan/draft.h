// A draft of a plan: the bodies (the root and each loop) and their items, before units and slots
// are assigned. An item is a node, or one of the additions that op_kind.h lists. The draft decides
// which loops are one node and which are dynamic, which values move between frames, and in which
// order one thread runs each body. Fusions change drafts. plan.h explains these words.
#ifndef SLUICE_EXECUTOR_PLAN_DRAFT_H_
#define SLUICE_EXECUTOR_PLAN_DRAFT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/kernel/kernel.h"
#include "executor/plan/op_kind.h"
#include "executor/plan/plan.h"
#include "graph/ir/graph.h"

namespace sluice {

// The location of an item's data input, like ValueRef of the plan.
struct DraftInput {
  ValueRef::Base base = ValueRef::kSlot;
  int index = 0;             // kSlot: the output of `item`; otherwise the index in the array `base`
  int item = -1;             // the item to wait for; -1 if the value is always available
  bool is_ref = false;       // the input is a reference
  bool dereference = false;  // the item reads the value to which the reference refers
};

struct DraftItem {
  OpKind kind = OpKind::kKernel;
  // The meaning depends on `kind`. kConstant, kFeed, kFetch: the position among the constants,
  // feeds or fetches. kLoop, kFused: the index of the loop or fusion group in the draft.
  // kLoopVariable, kCarry: the index of the loop variable. kLeave: the index of the output of the
  // kLoop item. kEnter, kNextIteration: the kArrival item of the receiving body. kExit: the index
  // in DraftBody::exits. kArrival: the index of the invariant that a constant Enter brings, or -1.
  int aux = -1;
  const Node* node = nullptr;  // kLoop: one of the loop's Exits or Enters, for error messages
  Kernel* kernel = nullptr;
  std::vector<DraftInput> inputs;
  std::vector<int> controls;           // the items of the control inputs
  std::vector<DataType> output_types;  // the graph's types, which may be reference types
  bool may_be_dead = false;            // may be on a branch that is not taken
  bool is_scalar_loop = false;  // the executor may compute it without its kernel, if it is a scalar
  bool is_fused_away = false;   // another item computes its result, so it is not in the order
};

// The root of the graph, or the body of one while loop.
struct DraftBody {
  std::vector<DraftItem> items;
  std::vector<int> order;  // indices of items: each item comes after those that it waits for
  bool is_simple_loop = false;
  std::string frame_name;
  int parent = -1;  // the index of the enclosing body; -1 for the root
  int parallel_iterations = 1;
  int num_enters = 0;
  int num_invariants = 0;
  int num_variables = 0;
  LoopPhases phases;                 // as positions in the order
  std::vector<int> exits;            // dynamic loop: arrival items of its Exits, in the parent
  std::vector<int> invariant_items;  // dynamic loop: arrival items of its constant Enters
};

struct Draft {
  std::vector<DraftBody> bodies;  // by frame; the root first
  std::vector<int> loops;         // the indices of the simple loops' bodies
  std::vector<Value> constants;
  std::vector<std::shared_ptr<const FusedElementwise>> fused;
  std::vector<std::shared_ptr<Kernel>> kernels;  // those that fusions have made
  int num_feeds = 0;
  int num_fetches = 0;
};

// Makes the bodies. OrderItems must then set the order of their items. `kernels` is by node id,
// with null for nodes that need none. With `dynamic_loops`, no loop is run as a single node.
// INVALID_ARGUMENT for graphs whose frames do not fit together (frames.h) and for fetches inside
// loops.
absl::StatusOr<Draft> MakeDraft(const Graph& graph,
                                const std::vector<std::shared_ptr<Kernel>>& kernels,
                                bool dynamic_loops);

// Sets the order of a body's items, and which of them may be dead. Returns false if the items wait
// for each other in a cycle.
bool OrderItems(DraftBody& body);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_DRAFT_H_
