// The graph as bodies of items, before units and slots: which loop is one node, which is dynamic,
// what travels between frames, and in which order a single thread would run each body.
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

struct DraftInput {
  ValueRef::Base base = ValueRef::kSlot;
  int index = 0;             // kSlot: output of `item`; else position in the array
  int item = -1;             // the item to wait for; -1: the value is always there
  bool is_ref = false;       // a reference comes…
  bool dereference = false;  // …and a value is wanted
};

struct DraftItem {
  OpKind kind = OpKind::kKernel;
  // kConstant, kFeed and kFetch: position. kLoop: which. kLoopVariable, kCarry, kLeave: which one.
  // kEnter, kExit, kNextIteration: item of the receiving body that stands for the arrival.
  // kArrival: invariant of a constant Enter, or -1. kFused: which.
  int aux = -1;
  const Node* node = nullptr;  // of a loop: one of its Exits or Enters, for messages
  Kernel* kernel = nullptr;
  std::vector<DraftInput> inputs;
  std::vector<int> controls;           // items
  std::vector<DataType> output_types;  // as declared
  bool may_be_dead = false;
  bool is_fused_away = false;  // a kFused item computes it: in no order, with nothing to do
};

struct DraftBody {
  std::vector<DraftItem> items;
  std::vector<int> order;  // of items: each after those that it waits for
  bool is_simple_loop = false;
  std::string frame_name;
  int parent = -1;
  int parallel_iterations = 1;
  int num_enters = 0;
  int num_invariants = 0;
  int num_variables = 0;
  LoopPhases phases;                 // positions in the order
  std::vector<int> exits;            // dynamic: arrival items in the parent
  std::vector<int> invariant_items;  // dynamic: arrival items of constant Enters
};

struct Draft {
  std::vector<DraftBody> bodies;  // by frame; the root first
  std::vector<int> loops;         // bodies of the simple loops, by kLoop's aux
  std::vector<Value> constants;
  std::vector<std::shared_ptr<const FusedElementwise>> fused;
  std::vector<std::shared_ptr<Kernel>> kernels;  // of no node
  int num_feeds = 0;
  int num_fetches = 0;
};

struct DraftOptions {
  bool dynamic_loops = false;     // no loop becomes a node
  bool fuse_elementwise = false;  // see fuse.h
  bool accumulate_sums = false;   // see accumulate.h
  bool tile_updates = false;      // see tiled_updates.h
};

// `kernels` by node id; null for nodes that need none. INVALID_ARGUMENT for graphs whose frames do
// not fit together (frames.h) and fetches inside loops.
absl::StatusOr<Draft> MakeDraft(const Graph& graph,
                                const std::vector<std::shared_ptr<Kernel>>& kernels,
                                const DraftOptions& options);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_DRAFT_H_
