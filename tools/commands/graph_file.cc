#include "tools/commands/graph_file.h"

#include <utility>

#include "executor/files/files.h"
#include "graph/status.h"

namespace sluice {

absl::StatusOr<GraphFile> ReadGraphFile(const std::string& path) {
  SLUICE_ASSIGN_OR_RETURN(const std::string bytes, ReadWholeFile(path));
  absl::StatusOr<pb::MetaGraphDef> meta = ReadMetaGraphOrGraph(bytes);
  if (!meta.ok()) return Annotate(meta.status(), StrCat("'", path, "': "));
  return GraphFile{static_cast<int64_t>(bytes.size()), *std::move(meta)};
}

}  // namespace sluice
