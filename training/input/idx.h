// Reads IDX files (the format of MNIST), plain or gzipped, as a pipeline of queues.
//
//   SLUICE_ASSIGN_OR_RETURN(input::IdxFile images, input::IdxFile::Open("train-images.gz"));
//   Output image = images.Read(g);  // one row per step: [28, 28], uint8
//
// The header is read when the graph is built. A FixedLengthRecordReader reads the rows, from a
// queue with the file's name, so `num_epochs`, queue runners and closing work as for any reader.
//
// Thread safety: a value without locks. One thread at a time builds the graph that Read extends.
// Ownership: the graph owns the nodes. The file is open while steps read it, not between Open and
// the first step.
// Errors: Open returns its errors. Errors of Read stay in the graph. A step ends with OUT_OF_RANGE
// after the last epoch.
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
  // Sizes of all dimensions, the number of rows first: {60000, 28, 28}.
  std::vector<int64_t> dims;

  // Reads the header. NOT_FOUND if the file does not exist. INVALID_ARGUMENT if it is not an IDX
  // file, or has an element type that the format does not have.
  static absl::StatusOr<IdxFile> Open(const std::string& path);

  struct ReadOptions {
    // The number of passes over the file, after which steps end with OUT_OF_RANGE. Nullopt: no
    // limit. A local variable counts them, so run InitializeLocalVariables.
    std::optional<int64_t> num_epochs;
    // Name scope. "": "idx".
    std::string name = "";
  };

  // Adds the pipeline. The result is one row, of shape dims[1:] and type `dtype`; each step that
  // needs it reads the next row, in the file's order. Batch it with input::ShuffleBatch (input.h).
  Output Read(Graph& graph, const ReadOptions& options, At at = At::current()) const;
  Output Read(Graph& graph, At at = At::current()) const { return Read(graph, {}, at); }
};

}  // namespace sluice::input

#endif  // SLUICE_TRAINING_INPUT_IDX_H_
