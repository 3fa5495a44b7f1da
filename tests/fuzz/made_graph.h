// Builds graphs from a fuzzer's bytes. Most of them are valid enough for the import, so that their
// kernels run.
#ifndef SLUICE_TESTS_FUZZ_MADE_GRAPH_H_
#define SLUICE_TESTS_FUZZ_MADE_GRAPH_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/format/proto/graph.pb.h"
#include "graph/op/op_def.h"
#include "graph/tensor/dtype.h"

namespace sluice {

// Reads numbers from bytes. After the end of the bytes, it returns zeros.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  bool empty() const { return bytes_.empty(); }
  uint8_t Byte();
  // A number below `n`, which is at least 1.
  size_t Below(size_t n);
  int64_t Int64();
  // Mostly small numbers, sometimes one at the limit of a type's range.
  int64_t Int();
  float Float();
  std::string_view Take(size_t n);

 private:
  std::string_view bytes_;
};

struct MadeGraph {
  pb::GraphDef def;
  // Names and values of fed placeholders.
  std::vector<std::pair<std::string, pb::TensorProto>> feeds;
  std::vector<std::string> fetches;
  std::vector<std::string> targets;  // nodes without outputs
};

// Adds some nodes of any registered ops, with inputs from earlier nodes, constants and
// placeholders.
MadeGraph MakeGraph(ByteReader& bytes);

// The value of a tensor of numbers or strings. Unknown sizes become 1.
pb::TensorProto MakeValue(ByteReader& bytes, pb::DataType dtype, const pb::TensorShapeProto& shape);

// The dtypes of the tensors of an argument. The node has all attributes of its op.
std::vector<DataType> TypesOf(const ArgDef& arg, const pb::NodeDef& node);

// Whether the op writes files. A fuzzer does not run such ops.
bool WritesFiles(std::string_view op);

}  // namespace sluice

#endif  // SLUICE_TESTS_FUZZ_MADE_GRAPH_H_
