// A plan: a pruned, placed graph compiled into flat arrays that a step walks.
//
// The graph falls into bodies: the root, and each while loop. A body's nodes fall into units, which
// run as a whole: a straight segment of nodes that become ready together, or one asynchronous node,
// or one Merge whose inputs come at different times. A unit starts when `pending` of its
// predecessors have ended. Values lie in slots; a body has one set of slots per iteration that is
// under way. Where the last reader of a slot is known from the plan, it may take the value over.
//
// A loop without asynchronous nodes is one node of its parent (OpKind::kLoop): its body is a single
// segment, run again and again. Other loops are dynamic: iterations overlap, and values travel
// between frames as arrivals (Enter into the child, NextIteration into the next iteration, Exit
// into the parent).
//
// Thread safety: immutable once compiled. Lifetime: that of the session.
#ifndef SLUICE_EXECUTOR_PLAN_PLAN_H_
#define SLUICE_EXECUTOR_PLAN_PLAN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "executor/kernel/context.h"
#include "executor/kernel/kernel.h"
#include "executor/plan/op_kind.h"
#include "graph/ir/graph.h"

namespace sluice {

class FusedElementwise;  // executor/plan/fused_elementwise.h

// Where an input lies: an array, and a position in it.
struct ValueRef {
  enum Base : uint32_t { kSlot = 0, kConstant = 1, kFeed = 2, kInvariant = 3 };
  uint32_t base : 2;
  uint32_t is_ref : 1;       // a reference lies there…
  uint32_t dereference : 1;  // …and a value is wanted
  uint32_t index : 28;
};
static_assert(sizeof(ValueRef) == 4);

// A node as the run loop reads it: one cache line.
struct alignas(64) PlanNode {
  enum Flags : uint8_t {
    kHasRefs = 1,       // some input is a reference
    kRunsWhenDead = 2,  // Send, Recv
    kNeedsIndex = 4,    // kMerge, kLoopVariable: output 1 is read
    kScalarLoop = 8,    // the kernel is an ElementwiseLoopKernel; operands may be scalars
  };
  Kernel* kernel = nullptr;
  const Node* node = nullptr;
  const DataType* output_types = nullptr;  // base types
  uint64_t movable = 0;                    // inputs whose value may be taken over
  uint32_t first_input = 0;                // into Body::inputs
  uint32_t first_output = 0;               // slot; outputs lie side by side
  uint32_t first_release = 0;              // into Body::releases
  uint16_t num_releases = 0;
  uint16_t num_inputs = 0;
  uint16_t num_outputs = 0;
  OpKind kind = OpKind::kKernel;
  uint8_t flags = 0;
  // kConstant: index among the constants. kFused: index among the groups. kFetch: position among
  // the fetches. kLoop: index among the loops. kLoopVariable, kCarry, kLeave: which one. kEnter,
  // kNextIteration: index among Plan::arrivals. kExit: index among Body::exits.
  uint32_t aux = 0;
  uint16_t device = 0;  // index in the session's devices
};
static_assert(sizeof(PlanNode) == 64);

// What only units with deadness need of a node.
struct NodeDeadness {
  uint32_t first_control = 0;  // into Body::controls: dead flags of control inputs
  uint32_t num_controls = 0;
  int32_t flag = -1;  // the node's own dead flag; -1: nobody asks
};

struct UnitEdge {
  // kOnly: the unit waits for nothing else, so that nothing is counted.
  enum Kind : uint8_t { kPlain, kOnly, kMergeControl, kMergeData };
  uint32_t unit;
  Kind kind = kPlain;
  ValueRef value = {};       // kMergeData: what arrives
  uint32_t merge_input = 0;  // kMergeData
};

// A value that several units read is copied, so that each owns one.
struct SlotCopy {
  uint32_t from;
  uint32_t to;
};

struct Unit {
  enum class Kind : uint8_t { kSegment, kAsync, kMerge, kArrival };
  Kind kind = Kind::kSegment;
  bool may_be_dead = false;   // run with deadness
  bool is_expensive = false;  // worth another thread
  bool only_sends = false;    // reads variables and sends values, and computes nothing
  uint32_t first_node = 0;    // into Body::nodes
  uint32_t num_nodes = 0;
  uint32_t first_edge = 0;  // into Body::edges
  uint32_t num_edges = 0;
  uint32_t first_copy = 0;  // into Body::copies
  uint32_t num_copies = 0;
  uint32_t async_index = 0;  // kAsync
  int32_t invariant = -1;    // kArrival: of a constant Enter
  uint64_t pending = 0;      // as an iteration starts with it
};

// The nodes of a loop's body in phases: its variables, the condition, a node whose input that is,
// what runs while it is true, with the carries last, and what runs when it is not.
struct LoopPhases {
  uint32_t num_variables = 0;
  uint32_t condition = 0;  // the node behind the condition's; 0: no phases
  uint32_t first_carry = 0;
  uint32_t first_false = 0;
};

struct Body {
  std::vector<PlanNode> nodes;
  std::vector<NodeDeadness> deadness;  // by node
  std::vector<ValueRef> inputs;
  std::vector<uint32_t> releases;  // slots to clear after a node
  std::vector<uint32_t> handles;   // slots to clear when the step ends
  std::vector<uint32_t> controls;
  std::vector<DataType> types;  // behind PlanNode::output_types
  std::vector<Unit> units;
  std::vector<UnitEdge> edges;
  std::vector<SlotCopy> copies;
  std::vector<uint32_t> roots;  // units that are ready when an iteration starts
  uint32_t num_slots = 0;
  uint32_t num_flags = 0;
  uint32_t num_async = 0;
  uint32_t num_invariants = 0;
  LoopPhases phases;  // a phased body's

  // Dynamic loops only.
  std::string frame_name;
  uint64_t frame_name_hash = 0;
  int parent = -1;  // body
  int parallel_iterations = 1;
  int num_enters = 0;
  std::vector<uint32_t> exits;            // arrival units in the parent, one an Exit
  std::vector<uint32_t> invariant_units;  // arrival units of constant Enters, by invariant
};

// A simple loop: inputs are its variables' first values, then its invariants.
struct Loop {
  uint32_t body = 0;
  uint32_t num_variables = 0;
  uint32_t num_invariants = 0;
  // The same body in phases, for runs in which nothing is dead; 0: there is none.
  uint32_t phased_body = 0;
};

// Where a value that changes frame or iteration goes.
struct ArrivalPoint {
  uint32_t body;
  uint32_t unit;
};

struct Plan {
  std::vector<Body> bodies;  // the root first
  std::vector<Loop> loops;
  std::vector<ArrivalPoint> arrivals;
  std::vector<Value> constants;
  std::vector<std::shared_ptr<const FusedElementwise>> fused;
  uint32_t num_feeds = 0;  // up to the last one that a node reads
  uint32_t num_fetches = 0;
  std::shared_ptr<const Graph> graph;            // the nodes
  std::vector<std::shared_ptr<Kernel>> kernels;  // by node id, then those of no node
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_PLAN_H_
