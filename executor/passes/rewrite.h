// Functions for passes that bypass nodes: the reader of a bypassed node then reads an input of that
// node, or a tensor from which that input was computed.
//
// Thread safety: none, like the graph.
#ifndef SLUICE_EXECUTOR_PASSES_REWRITE_H_
#define SLUICE_EXECUTOR_PASSES_REWRITE_H_

#include <set>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "graph/ir/graph.h"

namespace sluice {

// Whether a reader of the node needs neither to wait for the node nor to check whether it is dead.
// (A node is dead if it is on a branch that is not taken.) This holds for a constant without
// control inputs, which is never dead, and for a value that enters a loop, which is dead only
// together with the whole loop.
bool IsAliveWithItsReaders(const Node& node);

// Adds a node with one output. Its device, and the line of the user's program that counts as its
// origin, are those of `like`.
absl::StatusOr<Node*> AddBeside(Graph& graph, const Node& like, NodeSpec spec,
                                const PartialShape& shape);

// Adds a constant without control inputs on the device of `like`.
absl::StatusOr<Node*> ConstantOnDeviceOf(Graph& graph, const Node& like, std::string name,
                                         const Tensor& value);
// Adds a constant with the device and the control inputs of `like`, so that the constant is in the
// same loop and on the same branch.
absl::StatusOr<Node*> ConstantBeside(Graph& graph, const Node& like, std::string name,
                                     const Tensor& value);

// Replaces `node` by the node of `with`, and removes `node`. If `with` is output k of its node, the
// readers of output i of `node` then read output k + i. Nodes with a control input from `node` get
// one from the node of `with`.
absl::Status TakePlace(Graph& graph, Node* node, Output with);

// A bypass of a chain of nodes: passed[0] reads passed[1], and so on, and the last one reads x.
// Readers of output 0 of passed[0] can read x instead.
struct Bypass {
  Output x;
  absl::InlinedVector<Node*, 4> passed;
};

// Applies bypasses that change neither a result nor the time at which it is computed:
//   1. The nodes that are passed are pure, and only the first one may have control inputs.
//   2. The passed nodes and the node of x were requested for the same device.
//   3. Readers keep waiting for whatever the passed nodes waited for.
//   4. No reader gets a tensor in memory that others write. So x does not lie in a variable that is
//      updated in place. If x lies in a fed tensor, which the caller may overwrite after the step,
//      the results of the passed nodes lie there as well.
class Rewriter {
 public:
  // `keep`: names of nodes that stay as they are; outlives the rewriter.
  Rewriter(Graph& graph, const std::set<std::string>& keep);

  // Whether a bypass may remove the node. False for impure nodes, nodes with several outputs, nodes
  // in `keep`, and nodes whose device other nodes take over by `_class`.
  bool MayChange(const Node& node) const;
  // Whether a result of the node may lie in the memory of a variable that is updated in place. A
  // reader that then reads the result at another time could see another value.
  bool MayLieInVariable(const Node& node) const;

  // Removes passed[0]. Its readers then read x. If x can be computed before passed[0] could run, or
  // on another branch, they read an Identity of x that waits for the same nodes as passed[0].
  // Returns false if nothing changed.
  absl::StatusOr<bool> Replace(const Bypass& bypass);
  // Replaces input i of the reader, which is output 0 of passed[0], by x. Returns false if nothing
  // changed.
  absl::StatusOr<bool> Shorten(Node* reader, int i, const Bypass& bypass);

 private:
  // Whether the reader may read bypass.x instead. `copies` says whether the result of the reader
  // has its own memory.
  bool CanBePassed(const Bypass& bypass, const Node& reader, bool copies) const;
  absl::StatusOr<Output> IdentityOf(const Bypass& bypass, std::vector<Node*> controls);
  void RemoveUnused(absl::Span<Node* const> nodes);

  Graph& graph_;
  const std::set<std::string>& keep_;
  // Names of nodes that other nodes name in their attribute `_class`, to share a device with them.
  std::set<std::string> companions_;
  // By node id: whether a result may lie in a variable's memory, or in that of a fed tensor.
  std::vector<bool> in_variable_;
  std::vector<bool> in_feed_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_REWRITE_H_
