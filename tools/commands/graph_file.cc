#include "tools/commands/graph_file.h"

#include <fstream>
#include <iterator>
#include <utility>

#include "graph/status.h"

namespace sluice {

absl::StatusOr<GraphFile> ReadGraphFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file) return absl::NotFoundError(StrCat("'", path, "' cannot be read"));
  absl::StatusOr<pb::MetaGraphDef> meta = ReadMetaGraphOrGraph(bytes);
  if (!meta.ok()) return Annotate(meta.status(), StrCat("'", path, "': "));
  return GraphFile{static_cast<int64_t>(bytes.size()), *std::move(meta)};
}

}  // namespace sluice
