// IDX files (MNIST's form), plain or gzipped, as a pipeline of queues.
//
//   SLUICE_ASSIGN_OR_RETURN(input::IdxFile images,
//   input::IdxFile::Open("train-images-idx3-ubyte.gz")); Output image = images.Read(g); // one row
//   a step: [28, 28], uint8
//
// The header is read when the graph is built; rows come from a FixedLengthRecordReader behind a
// queue of the file's name, so that `num_epochs`, queue runners and closing are those of any
// reader.
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
  std::vector<int64_t> dims;  // rows first

  // Reads the header. NOT_FOUND; INVALID_ARGUMENT where it is no IDX file.
  static absl::StatusOr<IdxFile> Open(const std::string& path);

  struct ReadOptions {
    std::optional<int64_t> num_epochs;
    std::string name = "";
  };
  // Row after row, in the file's order.
  Output Read(Graph& graph, const ReadOptions& options, At at = At::current()) const;
  Output Read(Graph& graph, At at = At::current()) const { return Read(graph, {}, at); }
};

}  // namespace sluice::input

#endif  // SLUICE_TRAINING_INPUT_IDX_H_
