#include "tools/commands/inspect_checkpoint.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "executor/files/files.h"
#include "fmt/format.h"
#include "graph/status.h"
#include "ops/checkpoint/table.h"
#include "training/checkpoint/checkpoint_reader.h"
#include "training/checkpoint/checkpoint_state.h"

namespace sluice {
namespace {

// "m-5" of "m-5.index" and of "m-5.data-00000-of-00001".
std::string PrefixOf(const std::string& path) {
  for (const char* ending : {".index", ".data-"}) {
    if (const size_t at = path.rfind(ending); at != path.npos) {
      const std::string prefix = path.substr(0, at);
      if (FileExists(prefix + ".index")) return prefix;
    }
  }
  return path;
}

bool IsV1(const std::string& path) {
  const absl::StatusOr<TableReader> table = TableReader::Open(path);
  return table.ok();
}

void PrintRow(std::string_view label, std::string_view text) {
  fmt::print("{:<12}{}\n", label, text);
}

}  // namespace

bool IsCheckpoint(const std::string& path) {
  const std::string prefix = PrefixOf(path);
  if (IsDirectory(prefix)) {
    return FileExists(JoinPath(prefix, kCheckpointStateFile));
  }
  return FileExists(prefix + ".index") || IsV1(prefix);
}

absl::Status InspectCheckpoint(const std::string& path, const std::string& tensor) {
  SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<CheckpointReader> reader,
                          CheckpointReader::Open(PrefixOf(path)));
  if (!tensor.empty()) {
    SLUICE_ASSIGN_OR_RETURN(const Tensor value, reader->Read(tensor));
    fmt::print("{}\n",
               value.ToString(static_cast<int>(std::min<int64_t>(value.num_elements(), 1000))));
    return absl::OkStatus();
  }
  PrintRow("checkpoint", reader->path());
  PrintRow("format", reader->is_v1() ? "V1" : StrCat("V2, ", reader->num_shards(), " data files"));
  int64_t elements = 0, bytes = 0;
  absl::Status problem;
  std::string rows;
  for (const SavedTensor& t : reader->tensors()) {
    const absl::StatusOr<Tensor> value = reader->Read(t.name);
    problem.Update(value.status());
    elements += t.shape.num_elements();
    bytes += t.shape.num_elements() * static_cast<int64_t>(DataTypeSize(t.dtype));
    rows += fmt::format("  {} {}{}{}{}\n", t.name, DataTypeName(t.dtype), t.shape.ToString(),
                        t.slices.empty() ? ""
                                         : StrCat(" in ", t.slices.size(),
                                                  " parts: ", absl::StrJoin(t.slices, " ")),
                        value.ok() ? "" : "  DAMAGED");
  }
  PrintRow("tensors", StrCat(reader->tensors().size(), ", ", elements, " elements, ", bytes,
                             " bytes besides strings"));
  fmt::print("{}", rows);
  PrintRow("problem",
           problem.ok() ? "none: every byte was read and has its checksum" : problem.ToString());
  return problem;
}

}  // namespace sluice
