// A GraphDef of any bytes is read or refused.

#include <cstdint>

#include "graph/format/proto/graph.pb.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sluice::pb::GraphDef graph;
  if (graph.ParseFromArray(data, static_cast<int>(size))) graph.ByteSizeLong();
  return 0;
}
