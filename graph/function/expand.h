// Builds, in the open scopes and contexts of a graph, what one call of a function does.
#ifndef SLUICE_GRAPH_FUNCTION_EXPAND_H_
#define SLUICE_GRAPH_FUNCTION_EXPAND_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/function/body.h"
#include "graph/function/library.h"
#include "graph/ir/graph.h"

namespace sluice {

// What a call gives: its outputs, in order, and what has to have run when it is over.
struct Expansion {
  OutputList outputs;
  std::vector<Node*> controls;
};

class Expander {
 public:
  Expander(Graph& graph, const FunctionLibrary& library, int max_depth)
      : graph_(graph), library_(library), max_depth_(max_depth) {}

  // One call of an op that names functions, or is one.
  struct Call {
    std::string op;
    std::string name;  // the call's: nodes are made under `name`/
    const AttrMap* attrs = nullptr;
    OutputList inputs;
    std::string device;
  };
  static bool Knows(std::string_view op);
  absl::StatusOr<Expansion> Expand(const Call& call);

  // What nodes without inputs wait for outside of conds and loops; null: nothing.
  void set_entry(Node* entry) { entry_ = entry; }

 private:
  absl::StatusOr<Expansion> Body(const FunctionRef& function, const OutputList& args,
                                 const std::string& device);
  absl::Status BodyNodeInto(const FunctionBody& body, int n, const AttrMap& attrs,
                            const std::vector<OutputList>& args, const std::string& device,
                            std::vector<Expansion>* made);
  absl::StatusOr<Node*> AddNode(NodeSpec spec);
  absl::StatusOr<AttrMap> Attributes(const pb::NodeDef& def, const AttrMap& function) const;
  absl::StatusOr<Output> Find(const FunctionBody& body, const BodyTensor& tensor,
                              const std::vector<OutputList>& args,
                              const std::vector<Expansion>& made) const;
  absl::StatusOr<const FunctionBody*> Read(const std::string& name);

  absl::StatusOr<Expansion> If(const Call& call);
  absl::StatusOr<Expansion> Case(const Call& call);
  absl::StatusOr<Expansion> While(const Call& call);
  absl::StatusOr<Expansion> For(const Call& call);
  absl::StatusOr<Output> CheckedStart(const Call& call, Output limit, Output delta);
  absl::StatusOr<Expansion> Map(const Call& call);
  absl::StatusOr<Expansion> Gradient(const Call& call);
  // Branch i of `branches`, the last one whatever comes after it.
  absl::StatusOr<Expansion> Branches(const Call& call, const std::vector<FunctionAttr>& branches,
                                     size_t first, Output index, const OutputList& args);
  OutputList After(const Expansion& expansion) const;
  absl::StatusOr<FunctionRef> FunctionOf(const Call& call, std::string_view attr) const;
  absl::StatusOr<Output> AsBool(Output value);
  Output Number(const Tensor& value);
  // The first error of a builder's function that has no way to return one.
  absl::Status Take();

  Graph& graph_;
  const FunctionLibrary& library_;
  const int max_depth_;
  std::vector<std::string> open_;  // functions being expanded
  std::map<std::string, FunctionBody> bodies_;
  Node* entry_ = nullptr;
  absl::Status failure_;
};

}  // namespace sluice

#endif  // SLUICE_GRAPH_FUNCTION_EXPAND_H_
