#include "tools/commands/scalars.h"

#include <memory>

#include "absl/status/statusor.h"
#include "executor/files/files.h"
#include "graph/format/proto/event.pb.h"
#include "graph/format/tensor_proto.h"
#include "graph/status.h"
#include "ops/io/record_file.h"

namespace sluice {
namespace {

constexpr size_t kPointsMax = 1000;

// False if the value is no scalar.
bool ScalarOf(const pb::Summary::Value& value, double* number) {
  if (value.has_simple_value()) {
    *number = value.simple_value();
    return true;
  }
  if (!value.has_tensor()) return false;
  const absl::StatusOr<Tensor> tensor = TensorFromProto(value.tensor());
  if (!tensor.ok() || tensor->dtype() != DT_FLOAT || tensor->num_elements() != 1) return false;
  *number = tensor->scalar<float>();
  return true;
}

}  // namespace

absl::Status ScalarReader::Refresh() {
  SLUICE_ASSIGN_OR_RETURN(const std::vector<std::string> files,
                          MatchFiles(EscapePattern(folder_) + "/*tfevents*"));
  absl::Status first;
  for (const std::string& file : files) first.Update(ReadFile(file, &offsets_[file]));
  return first;
}

absl::Status ScalarReader::ReadFile(const std::string& path, int64_t* offset) {
  SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenFile(path));
  RecordReader reader(std::move(source));
  SLUICE_RETURN_IF_ERROR(reader.Skip(*offset));
  while (true) {
    const absl::StatusOr<std::string> record = reader.Next();
    // The end, or a record that is being written.
    if (!record.ok()) return absl::OkStatus();
    *offset = reader.offset();
    pb::Event event;
    if (!event.ParseFromString(*record)) continue;
    for (const pb::Summary::Value& value : event.summary().value()) {
      double number;
      if (ScalarOf(value, &number)) Add(value.tag(), event.step(), number);
    }
  }
}

void ScalarReader::Add(const std::string& tag, int64_t step, double value) {
  ScalarPoints& points = scalars_[tag];
  points.push_back({step, value});
  if (points.size() <= kPointsMax) return;
  // Keeps every second point, and the last.
  for (size_t i = 0; 2 * i < points.size(); ++i) points[i] = points[2 * i];
  points.resize(points.size() / 2 + 1);
}

}  // namespace sluice
