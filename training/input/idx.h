// Reads IDX files (the format of MNIST), plain or gzipped, as a pipeline of queues.
//
//   SLUICE_ASSIGN_OR_RETURN(input::IdxFile images, input::IdxFile::Open("train-images.gz"));
//   Output image = images.Read(g);  // one row per step: [28, 28], uint8
//
// The header is read when the graph is built. A FixedLengthRecordReader reads the rows, from a
// queue with the file's name, so `num_epochs`, queue runners and closing work as for any reader.
#ifndef SLUICE_TRAINING_INPUT_IDX_H_
#define SLUICE_TRAINING_INPUT_IDX_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/ir/graph.h"

namespace sluice::input {

struct IdxFile {
  std::string path;
  bool is_gzipped = false;
  DataType dtype = DT_UINT8;
  std::vector<int64_t> dims;  // the number of rows first

  // Reads the header. NOT_FOUND; INVALID_ARGUMENT if the file is not an IDX file.
  static absl::StatusOr<IdxFile> Open(const std::string& path);

  struct ReadOptions {
    std::optional<int64_t> num_epochs;
    std::string name = "";
  };
  // Reads the rows in the file's order, one per step.
  Output Read(Graph& graph, const ReadOptions& options, At at = At::current()) const;
  Output Read(Graph& graph, At at = At::current()) const { return Read(graph, {}, at); }
};

}  // namespace sluice::input

#endif  // SLUICE_TRAINING_INPUT_IDX_H_
