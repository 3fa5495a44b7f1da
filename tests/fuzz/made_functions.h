// Builds libraries of functions, and nodes that call the functions, from a fuzzer's bytes.
#ifndef SLUICE_TESTS_FUZZ_MADE_FUNCTIONS_H_
#define SLUICE_TESTS_FUZZ_MADE_FUNCTIONS_H_

#include <string>
#include <utility>
#include <vector>

#include "tests/fuzz/made_graph.h"

namespace sluice {

using Types = std::vector<DataType>;

struct MadeFunction {
  std::string name;
  Types inputs;
  Types outputs;
};

// Adds functions and nodes to a graph.
class FunctionMaker {
 public:
  // Both must outlive this object.
  FunctionMaker(ByteReader& bytes, MadeGraph* graph) : bytes_(bytes), graph_(*graph) {}

  // Adds `count` functions of random ops. Attributes of these ops may name any of the functions. So
  // functions may call themselves or each other without end.
  std::vector<MadeFunction> Random(size_t count);
  // Adds a function with arguments of types `inputs` that returns them or constants.
  MadeFunction Returning(const Types& inputs, const Types& outputs);
  // Adds a function that returns a dataset with one element, which consists of its arguments.
  MadeFunction Dataset(const Types& inputs);

  // Adds a node without inputs and attributes.
  pb::NodeDef* AddNode(const std::string& op);
  // Adds a constant or, for types without values, a placeholder. Returns its name.
  std::string AddValue(DataType dtype, const pb::TensorShapeProto& shape);
  // Adds a value of a random small shape for each type, and returns their names.
  std::vector<std::string> AddValues(const Types& types);

 private:
  pb::FunctionDef* AddFunction(const Types& inputs);
  void AddRandom(MadeFunction* function, const std::vector<std::string>& names);

  ByteReader& bytes_;
  MadeGraph& graph_;
  int next_ = 0;
};

// Set attribute `name` to a list: of types, or of `count` unknown shapes.
void SetTypes(pb::NodeDef* node, const std::string& name, const Types& types);
void SetUnknownShapes(pb::NodeDef* node, const std::string& name, size_t count);
inline void SetFunction(pb::NodeDef* node, const std::string& name, const MadeFunction& f) {
  (*node->mutable_attr())[name].mutable_func()->set_name(f.name);
}

}  // namespace sluice

#endif  // SLUICE_TESTS_FUZZ_MADE_FUNCTIONS_H_
