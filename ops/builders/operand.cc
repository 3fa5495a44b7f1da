#include "ops/builders/operand.h"

#include "graph/build/node_builder.h"

namespace sluice {
namespace {

Output CastTo(Output x, DataType dtype, At at) {
  if (!x || BaseType(x.dtype()) == dtype) return x;
  return NodeBuilder(x.graph(), "Cast", at).Input(x).Attr("DstT", dtype).Finish();
}

// Returns the type in which values of `dtype` are divided: a floating-point type for integers.
DataType QuotientType(DataType dtype) {
  dtype = BaseType(dtype);
  if (!IsInteger(dtype)) return dtype;
  return DataTypeSize(dtype) <= 2 ? DT_FLOAT : DT_DOUBLE;
}

}  // namespace

Graph* Operand::graph() const { return tensor_.graph(); }
DataType Operand::dtype() const {
  return variable_ != nullptr ? dtype_ : BaseType(tensor_.dtype());
}

Output Operand::In(Graph& graph, DataType dtype, std::string_view name) const {
  if (number_) return Constant(graph, *number_, dtype, name, at_);
  return variable_ != nullptr ? read_(variable_, at_) : tensor_;
}

Output BinaryOp(std::string_view op, std::string_view name, const Operand& x, const Operand& y) {
  Graph* graph = x.graph() != nullptr ? x.graph() : y.graph();
  if (graph == nullptr) return Output();
  const DataType dtype = x.is_number() ? y.dtype() : x.dtype();
  // Reads variables here, outside the name scope of the operator.
  const Output left = x.is_number() ? Output() : x.In(*graph, dtype, "");
  const Output right = y.is_number() ? Output() : y.In(*graph, dtype, "");
  NameScope scope(*graph, name);
  const Output a = left ? left : x.In(*graph, dtype, "x");
  const Output b = right ? right : y.In(*graph, dtype, "y");
  return NodeBuilder(graph, op, x.at()).Name(scope.prefix()).Input(a).Input(b).Finish();
}

Output operator+(Operand x, Operand y) { return BinaryOp("AddV2", "add", x, y); }
Output operator-(Operand x, Operand y) { return BinaryOp("Sub", "sub", x, y); }
Output operator*(Operand x, Operand y) { return BinaryOp("Mul", "mul", x, y); }
Output operator%(Operand x, Operand y) { return BinaryOp("FloorMod", "mod", x, y); }

Output operator/(Operand x, Operand y) {
  Graph* graph = x.graph() != nullptr ? x.graph() : y.graph();
  if (graph == nullptr) return Output();
  const DataType dtype = x.is_number() ? y.dtype() : x.dtype();
  if (QuotientType(dtype) == dtype) return BinaryOp("RealDiv", "truediv", x, y);
  NameScope scope(*graph, "truediv");
  const Output a = x.In(*graph, dtype, "x");
  const Output b = y.In(*graph, dtype, "y");
  const Output a_cast = CastTo(a, QuotientType(dtype), x.at());
  return NodeBuilder(graph, "RealDiv", x.at())
      .Name(scope.prefix())
      .Input(a_cast)
      .Input(CastTo(b, QuotientType(dtype), x.at()))
      .Finish();
}

Output operator-(Operand x) {
  Graph* graph = x.graph();
  if (graph == nullptr) return Output();
  return NodeBuilder(graph, "Neg", x.at()).Input(x.In(*graph, x.dtype(), "x")).Finish();
}

}  // namespace sluice
