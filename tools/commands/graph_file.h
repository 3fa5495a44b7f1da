// Reads graph files that the command line names.
#ifndef SLUICE_TOOLS_COMMANDS_GRAPH_FILE_H_
#define SLUICE_TOOLS_COMMANDS_GRAPH_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "graph/format/meta_graph.h"

namespace sluice {

struct GraphFile {
  int64_t bytes = 0;
  pb::MetaGraphDef meta;  // has only graph_def if the file is a GraphDef
};

// Reads a GraphDef or MetaGraphDef, binary or text. NOT_FOUND if `path` cannot be read;
// INVALID_ARGUMENT if it is neither.
absl::StatusOr<GraphFile> ReadGraphFile(const std::string& path);

}  // namespace sluice

#endif  // SLUICE_TOOLS_COMMANDS_GRAPH_FILE_H_
