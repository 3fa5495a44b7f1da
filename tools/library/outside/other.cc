#include "other.h"

#include "graph.pb.h"

std::string FirstOp(const std::string& bytes) {
  tensorflow::GraphDef graph;
  return graph.ParseFromString(bytes) && graph.node_size() > 0 ? graph.node(0).op() : "";
}
