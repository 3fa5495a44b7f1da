// A placed graph, cut into one graph a task.
//
// An edge between tasks becomes a Send and a Recv, once for each tensor and receiving task; control
// edges send an empty tensor. Constants and the Enters of loops are copied to every task that uses
// them. A loop over several tasks keeps its iterations in step by a small loop of its own on each
// task that receives inside it; that loop's predicate comes from the task of the LoopCond.
//
// After the placer, before the plan. What is fed and fetched stays on the task that takes or makes
// it: Part says which. Linear in the graph and its edges.
#ifndef SLUICE_EXECUTOR_PARTITION_PARTITION_H_
#define SLUICE_EXECUTOR_PARTITION_PARTITION_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/ir/graph.h"

namespace sluice {

struct Part {
  std::unique_ptr<Graph> graph;
  // The step's numbers of the part's _Arg and _Retval nodes, which are numbered anew.
  std::vector<int> feeds, fetches;
};

// "/job:ps/replica:0/task:0" of a full device name.
std::string_view TaskOf(std::string_view device);

// By task. `incarnation` is that of a device. INVALID_ARGUMENT for loops over several tasks without
// a LoopCond, "A cross-device loop must have a pivot predicate: <frame>".
absl::StatusOr<std::map<std::string, Part>> PartitionByTask(
    const Graph& graph, const std::function<uint64_t(const std::string&)>& incarnation);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PARTITION_PARTITION_H_
