// A plan: a pruned and placed graph, compiled into flat arrays. A step runs the graph by walking
// them.
//
// The graph is divided into bodies: the root and each while loop. The nodes of a body are grouped
// into units, which run as a whole: a segment of nodes that become ready together, one asynchronous
// node, or one Merge whose inputs arrive at different times. A unit runs when all `pending` units
// that it waits for have ended. Values are in slots. Each running iteration of a body has its own
// slots. If the plan knows the last reader of a slot, that node may take over the value.
//
// A simple loop is one node of its parent (OpKind::kLoop). It has no nodes that can block (loops.h
// has all conditions). Its body is a single segment, which runs again and again. Other loops are
// dynamic: each execution of the loop is a frame, whose iterations overlap. Values arrive from
// other frames and iterations (by Enter from the parent, by NextIteration from the iteration
// before, by Exit in the parent).
//
// Thread safety: immutable after compilation. Lifetime: a plan lives as long as its session.
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

class FusedElementwise;  // executor/fusion/fused_elementwise.h

// The location of an input: an array and an index.
struct ValueRef {
  enum Base : uint32_t { kSlot = 0, kConstant = 1, kFeed = 2, kInvariant = 3 };
  uint32_t base : 2;
  uint32_t is_ref : 1;       // the value there is a reference
  uint32_t dereference : 1;  // the node reads the value to which the reference refers
  uint32_t index : 28;
};
static_assert(sizeof(ValueRef) == 4);

// A node in the form that the run loop reads: one cache line.
struct alignas(64) PlanNode {
  enum Flags : uint8_t {
    kHasRefs = 1,       // an input is a reference
    kRunsWhenDead = 2,  // the kernel runs even if an input is dead: Send, Recv
    kNeedsIndex = 4,    // kMerge, kLoopVariable: a node reads output 1
    kScalarLoop = 8,  // an ElementwiseLoopKernel; scalar results are computed without a call of it
  };
  Kernel* kernel = nullptr;
  const Node* node = nullptr;
  const DataType* output_types = nullptr;  // without references
  uint64_t movable = 0;                    // bit i: the node may take over input i
  uint32_t first_input = 0;                // into Body::inputs
  uint32_t first_output = 0;               // slot; the outputs have consecutive slots
  uint32_t first_release = 0;              // into Body::releases
  uint16_t num_releases = 0;
  uint16_t num_inputs = 0;
  uint16_t num_outputs = 0;
  OpKind kind = OpKind::kKernel;
  uint8_t flags = 0;
  // Its meaning depends on the kind. kConstant, kFused, kFetch, kLoop: the index among the
  // constants, fusion groups, fetches or loops. kLoopVariable, kCarry: the index of the loop
  // variable. kLeave: the index of the output of the kLoop node. kEnter, kNextIteration: the index
  // in Plan::arrivals. kExit: the index in Body::exits.
  uint32_t aux = 0;
  uint16_t device = 0;  // index in the session's devices
};
static_assert(sizeof(PlanNode) == 64);

// The part of a node that only units with Unit::may_be_dead need. A node's dead flag says that the
// node is dead, that is, on a branch that is not taken.
struct NodeDeadness {
  uint32_t first_control = 0;  // into Body::controls: the dead flags of control inputs
  uint32_t num_controls = 0;
  int32_t flag = -1;  // the node's own dead flag; -1 if no node reads it
};

// Leads from a unit to one that waits for it.
struct UnitEdge {
  // kOnly: `unit` waits for nothing else, so its pending count is not used.
  enum Kind : uint8_t { kPlain, kOnly, kMergeControl, kMergeData };
  uint32_t unit;
  Kind kind = kPlain;
  ValueRef value = {};       // kMergeData: the value that the Merge gets
  uint32_t merge_input = 0;  // kMergeData: the index of the Merge's input
};

// A copy of a value for one of the units that read it, so that each unit owns a slot with the
// value.
struct SlotCopy {
  uint32_t from;
  uint32_t to;
};

// Nodes that run as a whole, once all units that they wait for have ended.
struct Unit {
  enum class Kind : uint8_t { kSegment, kAsync, kMerge, kArrival };
  Kind kind = Kind::kSegment;
  bool may_be_dead = false;  // some of its nodes may be dead, so the unit checks each
  bool only_sends = false;   // reads variables and sends values but computes nothing
  uint32_t first_node = 0;   // into Body::nodes
  uint32_t num_nodes = 0;
  uint32_t first_edge = 0;  // into Body::edges
  uint32_t num_edges = 0;
  uint32_t first_copy = 0;  // into Body::copies
  uint32_t num_copies = 0;
  uint32_t async_index = 0;  // kAsync: its number among the asynchronous units of the body
  int32_t invariant = -1;    // kArrival of a constant Enter: the index of the invariant
  uint64_t pending = 0;      // units to wait for, when an iteration starts (Merge: merge_word.h)
};

// Divides the nodes of a loop's body into five ranges, in this order: the loop variables; the nodes
// of the condition; one node that reads the condition; the nodes that run if the condition is true,
// of which the last ones carry values to the next iteration; the nodes that run if it is false.
struct LoopPhases {
  uint32_t num_variables = 0;
  uint32_t condition = 0;  // the node that reads the condition; 0: no phases
  uint32_t first_carry = 0;
  uint32_t first_false = 0;
};

// The root of the graph, or one while loop. The arrays below are indexed by its units and nodes.
struct Body {
  std::vector<PlanNode> nodes;
  std::vector<NodeDeadness> deadness;  // by node
  std::vector<ValueRef> inputs;
  std::vector<uint32_t> releases;  // slots to clear after a node
  std::vector<uint32_t> handles;   // slots of handles and references, cleared when the step ends
  std::vector<uint32_t> controls;
  std::vector<DataType> types;  // PlanNode::output_types points into it
  std::vector<Unit> units;
  std::vector<UnitEdge> edges;
  std::vector<SlotCopy> copies;
  std::vector<uint32_t> roots;  // units that are ready when an iteration starts
  uint32_t num_slots = 0;
  uint32_t num_flags = 0;
  uint32_t num_async = 0;
  uint32_t num_invariants = 0;
  LoopPhases phases;  // with condition 0 if the body has no phases

  // Dynamic loops only.
  std::string frame_name;
  uint64_t frame_name_hash = 0;
  int parent = -1;  // the index of the enclosing body
  int parallel_iterations = 1;
  int num_enters = 0;
  std::vector<uint32_t> exits;            // arrival units in the parent, one per Exit
  std::vector<uint32_t> invariant_units;  // arrival units of constant Enters, by invariant
};

// A loop that is one node of its parent. The inputs of this node are the initial values of the
// loop's variables, then its invariants, which have the same value in all iterations.
struct Loop {
  uint32_t body = 0;
  uint32_t num_variables = 0;
  uint32_t num_invariants = 0;
  // The same body, divided into phases (phases.h), for runs without dead inputs. 0: no such body.
  uint32_t phased_body = 0;
};

// The destination of a value that goes to another frame or iteration.
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
  uint32_t num_feeds = 0;  // number of the last feed that a node reads, plus 1
  uint32_t num_fetches = 0;
  std::shared_ptr<const Graph> graph;            // owns the nodes
  std::vector<std::shared_ptr<Kernel>> kernels;  // by node id, then those made by fusions
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_PLAN_H_
