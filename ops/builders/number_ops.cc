#include "ops/builders/number_ops.h"

#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"

namespace sluice {
namespace {

Output Named(std::string_view op, const Operand& x, const Operand& y, std::string_view name) {
  return BinaryOp(op, name.empty() ? op : name, x, y);
}

}  // namespace

Output Equal(const Operand& x, const Operand& y, std::string_view name) {
  return Named("Equal", x, y, name);
}
Output Greater(const Operand& x, const Operand& y, std::string_view name) {
  return Named("Greater", x, y, name);
}
Output GreaterEqual(const Operand& x, const Operand& y, std::string_view name) {
  return Named("GreaterEqual", x, y, name);
}
Output Maximum(const Operand& x, const Operand& y, std::string_view name) {
  return Named("Maximum", x, y, name);
}
Output Minimum(const Operand& x, const Operand& y, std::string_view name) {
  return Named("Minimum", x, y, name);
}
Output NotEqual(const Operand& x, const Operand& y, std::string_view name) {
  return Named("NotEqual", x, y, name);
}

Output Cast(Graph& graph, const Operand& x, DataType dtype) {
  NameScope scope(graph, "Cast");
  const Output value = x.In(graph, DT_FLOAT, "x");
  if (BaseType(value.dtype()) == dtype) return value;
  return NodeBuilder(value.graph(), "Cast", x.at())
      .Name(scope.prefix())
      .Input(value)
      .Attr("DstT", dtype)
      .Finish();
}

}  // namespace sluice
