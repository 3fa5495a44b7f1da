// A FunctionLibrary finds the functions of a graph by the names that ops (If, While,
// PartitionedCall, …) have in attributes.
//
// Thread safety: immutable after Parse.
#ifndef SLUICE_GRAPH_FUNCTION_LIBRARY_H_
#define SLUICE_GRAPH_FUNCTION_LIBRARY_H_

#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "graph/format/proto/function.pb.h"
#include "graph/ir/graph.h"

namespace sluice {

class FunctionLibrary {
 public:
  // `serialised` is a FunctionDefLibrary (Graph::function_library()).
  static absl::StatusOr<FunctionLibrary> Parse(std::string_view serialised);

  bool empty() const { return functions_.empty(); }
  bool Contains(std::string_view name) const { return functions_.contains(name); }
  // Error: NOT_FOUND "Failed to find function '<name>' in function library".
  absl::StatusOr<const pb::FunctionDef*> Find(std::string_view name) const;
  // The name of the function that the library declares as the gradient of `name`; "" if there is
  // none.
  std::string GradientOf(std::string_view name) const;

 private:
  pb::FunctionDefLibrary proto_;
  std::map<std::string, const pb::FunctionDef*, std::less<>> functions_;
  std::map<std::string, std::string, std::less<>> gradients_;
};

// Adds a function to the graph's library.
void AddFunction(Graph& graph, const pb::FunctionDef& function);
// Returns a name that no function of the library has: the first free one of `base`, `base`_1, …
std::string UniqueFunctionName(const FunctionLibrary& library, std::string_view base);

}  // namespace sluice

#endif  // SLUICE_GRAPH_FUNCTION_LIBRARY_H_
