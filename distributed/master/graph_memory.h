// Describes the memory that a graph from a client needs.
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

// Returns a table of the largest constants, including those in functions. It is part of the error
// if there is no memory for a graph.
std::string DescribeConstants(const pb::GraphDef& graph);

// Returns the bytes of the message without the contents of constant tensors. In memory, the graph
// takes at least as many bytes.
int64_t BytesWithoutConstants(const pb::GraphDef& graph);

// Adds a description of the memory limits, if there are any, to an error. `account` is that of the
// session, or null if the error is about no session.
absl::Status WithMemoryLimits(const absl::Status& error, const MemoryAccount* account);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MASTER_GRAPH_MEMORY_H_
