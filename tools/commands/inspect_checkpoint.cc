#include "tools/commands/inspect_checkpoint.h"

#include <algorithm>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_join.h"
#include "executor/files/files.h"
#include "fmt/format.h"
#include "graph/status.h"
#include "ops/checkpoint/table.h"
#include "tools/commands/json.h"
#include "training/checkpoint/checkpoint_reader.h"
#include "training/checkpoint/checkpoint_state.h"

namespace sluice {
namespace {

// Returns "m-5" for "m-5.index" and for "m-5.data-00000-of-00001".
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

struct ReadTensor {
  SavedTensor saved;
  bool is_damaged = false;
};

void PrintTensors(const CheckpointReader& reader, const std::vector<ReadTensor>& tensors,
                  const absl::Status& problem) {
  PrintRow("checkpoint", reader.path());
  PrintRow("format", reader.is_v1() ? "V1" : StrCat("V2, ", reader.num_shards(), " data files"));
  int64_t elements = 0, bytes = 0;
  std::string rows;
  for (const auto& [t, is_damaged] : tensors) {
    elements += t.shape.num_elements();
    bytes += t.shape.num_elements() * static_cast<int64_t>(DataTypeSize(t.dtype));
    rows += fmt::format("  {} {}{}{}{}\n", t.name, DataTypeName(t.dtype), t.shape.ToString(),
                        t.slices.empty() ? ""
                                         : StrCat(" in ", t.slices.size(),
                                                  " parts: ", absl::StrJoin(t.slices, " ")),
                        is_damaged ? "  DAMAGED" : "");
  }
  PrintRow("tensors",
           StrCat(tensors.size(), ", ", elements, " elements, ", bytes, " bytes besides strings"));
  fmt::print("{}", rows);
  PrintRow("problem",
           problem.ok() ? "none: every byte was read and has its checksum" : problem.ToString());
}

void PrintTensorsAsJson(const CheckpointReader& reader, const std::vector<ReadTensor>& tensors,
                        const absl::Status& problem) {
  std::vector<std::string> rows;
  for (const auto& [t, is_damaged] : tensors) {
    rows.push_back(JsonObject()
                       .Add("name", JsonString(t.name))
                       .Add("dtype", JsonString(DataTypeName(t.dtype)))
                       .Add("shape", JsonShape(t.shape))
                       .Add("slices", JsonStrings(t.slices))
                       .Add("damaged", is_damaged ? "true" : "false")
                       .str());
  }
  fmt::print("{}\n", JsonObject()
                         .Add("checkpoint", JsonString(reader.path()))
                         .Add("format", reader.is_v1() ? "\"V1\"" : "\"V2\"")
                         .Add("tensors", JsonArray(rows))
                         .Add("problem", problem.ok() ? "null" : JsonString(problem.ToString()))
                         .str());
}

absl::Status PrintValues(const CheckpointReader& reader, const std::string& tensor) {
  SLUICE_ASSIGN_OR_RETURN(const Tensor value, reader.Read(tensor));
  const auto shown = static_cast<int>(std::min<int64_t>(value.num_elements(), 1000));
  fmt::print("{}\n", absl::GetFlag(FLAGS_json) ? JsonTensor(value) : value.ToString(shown));
  return absl::OkStatus();
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
  if (!tensor.empty()) return PrintValues(*reader, tensor);
  std::vector<ReadTensor> tensors;
  absl::Status problem;
  for (const SavedTensor& saved : reader->tensors()) {
    const absl::Status read = reader->Read(saved.name).status();
    problem.Update(read);
    tensors.push_back({saved, !read.ok()});
  }
  (absl::GetFlag(FLAGS_json) ? PrintTensorsAsJson : PrintTensors)(*reader, tensors, problem);
  return problem;
}

}  // namespace sluice
