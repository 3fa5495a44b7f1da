// Errors about the memory of a graph that a client sends.
//
// Thread safety: the functions may be called from any thread.
#ifndef SLUICE_DISTRIBUTED_MASTER_GRAPH_MEMORY_H_
#define SLUICE_DISTRIBUTED_MASTER_GRAPH_MEMORY_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "executor/device/memory_account.h"
#include "graph/format/proto/graph.pb.h"

namespace sluice {

// A table of the largest constants, also of those in functions, for the error of a graph for which
// there is no memory.
std::string DescribeConstants(const pb::GraphDef& graph);

// The bytes of the message without the contents of tensors, which are stored as constants. A graph
// in memory takes at least as many.
int64_t BytesWithoutConstants(const pb::GraphDef& graph);

// Adds a description of the memory limits, if there are any, to an error. `account` is that of the
// session, or null if the error is about no session.
absl::Status WithMemoryLimits(const absl::Status& error, const MemoryAccount* account);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MASTER_GRAPH_MEMORY_H_
