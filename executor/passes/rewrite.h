// What passes share that let a node's readers, or the node itself, take a tensor from further up.
//
// Thread safety: none, as of the graph.
#ifndef SLUICE_EXECUTOR_PASSES_REWRITE_H_
#define SLUICE_EXECUTOR_PASSES_REWRITE_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "graph/ir/graph.h"

namespace sluice {

// A constant's value (ConstantBehind) as integers: of an int32 or int64 scalar or vector.
std::optional<std::vector<int64_t>> ConstantInts(Output output);
// The order that a Transpose gives dimensions, where it is constant and known to fit its input.
std::optional<std::vector<int64_t>> PermutationOf(const Node& transpose);

// Whether nobody need wait for the node, or ask whether it is dead: a constant that waits for
// nothing is never dead, and what enters a loop as its invariant is dead only with the whole loop.
bool IsAliveWithItsReaders(const Node& node);

// A node of one output, on the device of `like` and of its line in the user's program.
absl::StatusOr<Node*> AddBeside(Graph& graph, const Node& like, NodeSpec spec,
                                const PartialShape& shape);

// A constant on the device of `like`, which waits for nothing.
absl::StatusOr<Node*> ConstantOnDeviceOf(Graph& graph, const Node& like, std::string name,
                                         const Tensor& value);
// The same, but that it waits for what `like` waits for, so that it is in the same loop and on the
// same branch.
absl::StatusOr<Node*> ConstantBeside(Graph& graph, const Node& like, std::string name,
                                     const Tensor& value);

// What reads output i of `node` reads the i-th one from `with` on, what waits for it waits for
// that, and `node` goes away.
absl::Status TakePlace(Graph& graph, Node* node, Output with);

// A way around nodes: x instead of output 0 of passed[0], which reads passed[1] and so on to x.
struct Detour {
  Output x;
  absl::InlinedVector<Node*, 4> passed;
};

// Makes detours where they change neither what is computed nor when: nodes on the way are pure,
// the inner ones wait for nothing, all of them and x were asked for on the same device, and what
// readers wait for because of the nodes left out they wait for still. Nor does a reader get a
// tensor in memory that others write: x does not lie in a variable that is updated in place, where
// the nodes left out had a value of their own; and where it lies in a tensor that was fed, which a
// caller may fill again after the step, so did what is left out.
class Rewriter {
 public:
  // `keep`: names of nodes that nothing is done to; outlives the rewriter.
  Rewriter(Graph& graph, const std::set<std::string>& keep);

  bool MayChange(const Node& node) const;
  // Whether a result may be in the memory of a variable that is updated in place, so that who reads
  // it at another time could see another value.
  bool MayLieInVariable(const Node& node) const;

  // x takes the place of passed[0], which goes away; where its readers would then run without what
  // it waited for, or on another branch, they read an Identity of x that waits. False: left as is.
  absl::StatusOr<bool> Replace(const Detour& detour);
  // The node's input i, which is passed[0]'s output, becomes x; false: left as it is.
  absl::StatusOr<bool> Shorten(Node* reader, int i, const Detour& detour);

 private:
  // `copies`: the reader's result is in memory of its own.
  bool CanBePassed(const Detour& detour, const Node& reader, bool copies) const;
  absl::StatusOr<Output> IdentityOf(const Detour& detour, std::vector<Node*> controls);
  void RemoveUnused(absl::Span<Node* const> nodes);

  Graph& graph_;
  const std::set<std::string>& keep_;
  std::set<std::string> companions_;  // nodes that others want to share a device with
  // By node id: whether a result may lie in a variable's memory, or in that of a fed tensor.
  std::vector<bool> in_variable_;
  std::vector<bool> in_feed_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PASSES_REWRITE_H_
