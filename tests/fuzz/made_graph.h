// Graphs out of a fuzzer's bytes: most of them import, so that kernels see them.
#ifndef SLUICE_TESTS_FUZZ_MADE_GRAPH_H_
#define SLUICE_TESTS_FUZZ_MADE_GRAPH_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/format/proto/graph.pb.h"

namespace sluice {

// Reads numbers from bytes; zeros when they are used up.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  bool empty() const { return bytes_.empty(); }
  uint8_t Byte();
  // Below `n`, which is at least 1.
  size_t Below(size_t n);
  int64_t Int64();
  // Mostly small numbers; now and then one at the end of a type's range.
  int64_t Int();
  float Float();
  std::string_view Take(size_t n);

 private:
  std::string_view bytes_;
};

struct MadeGraph {
  pb::GraphDef def;
  // Names of placeholders, and what to feed.
  std::vector<std::pair<std::string, pb::TensorProto>> feeds;
  std::vector<std::string> fetches;
  std::vector<std::string> targets;  // nodes without outputs
};

// Some nodes of any ops of the registry: inputs from earlier nodes, constants and placeholders.
MadeGraph MakeGraph(ByteReader& bytes);

// A tensor's value; numbers and strings only. A shape with unknown parts: 1 stands for them.
pb::TensorProto MakeValue(ByteReader& bytes, pb::DataType dtype, const pb::TensorShapeProto& shape);

// Ops that a fuzzer does not run: they write files.
bool WritesFiles(std::string_view op);

}  // namespace sluice

#endif  // SLUICE_TESTS_FUZZ_MADE_GRAPH_H_
