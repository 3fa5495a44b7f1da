#include "ops/lists/array_gradient.h"

#include <string>
#include <string_view>

#include "graph/build/node_builder.h"
#include "graph/build/scopes.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Returns the beginning of the name up to the last part that starts with "gradients":
// "a/gradients_1" for "a/gradients_1/while/Read_grad/…". As in TensorFlow, it identifies the call
// that adds the gradients.
std::string SourceOf(std::string_view name) {
  size_t end = 0;
  for (size_t begin = 0; begin < name.size();) {
    const size_t slash = std::min(name.find('/', begin), name.size());
    if (name.substr(begin, slash - begin).starts_with("gradients")) end = slash;
    begin = slash + 1;
  }
  return std::string(name.substr(0, end));
}

// Builds the ops that access the TensorArray of gradients, which belongs to the array of the
// forward op.
class GradientArray {
 public:
  // `grad` is the gradient of the op. The accesses run after `flow`.
  GradientArray(Backprop& b, Output grad, Output flow) : graph_(b.graph()) {
    const std::string& op = b.op().op();
    version_ = op.ends_with("V3") ? "V3" : "V2";
    const std::string source = SourceOf(grad.node->name());
    if (source.empty()) {
      b.Fail(
          InvalidArgument("expected a gradient under a scope that begins with 'gradients', got '",
                          grad.name(), "'"));
      return;
    }
    dtype_ = b.attr<DataType>("T", b.attr<DataType>("dtype"));
    NameScope scope(graph_, "TensorArrayGrad");
    ColocateWith with(graph_, b.In(0));
    Node* made = NodeBuilder(&graph_, "TensorArrayGrad" + version_, At::current())
                     .Input(b.In(0))
                     .Input(flow)
                     .Attr("source", source)
                     .Finish();
    if (made == nullptr) return;
    handle_ = made;
    ControlDependencies after(graph_, {handle_});
    flow_ =
        NodeBuilder(&graph_, "Identity", At::current()).Name("gradient_flow").Input(flow).Finish();
  }

  // Adds an op on the array of gradients. Its inputs are the handle, `inputs` and the flow.
  Node* Access(const std::string& op, const OutputList& inputs, std::string_view scope_name) {
    if (!flow_) return nullptr;
    auto build = [&] {
      NodeBuilder builder(&graph_, "TensorArray" + op + version_, At::current());
      builder.Input(handle_);
      for (const Output& in : inputs) builder.Input(in);
      builder.Input(flow_);
      const bool reads = op == "Read" || op == "Gather" || op == "Concat";
      if (reads) builder.Attr("dtype", dtype_);
      return builder.Finish();
    };
    if (scope_name.empty()) return build();
    NameScope scope(graph_, scope_name);
    return build();
  }

 private:
  Graph& graph_;
  std::string version_;
  DataType dtype_ = DT_INVALID;
  Output handle_;
  Output flow_;
};

// Returns a flow that waits for the forward write, because TensorArrayGrad requires a complete
// forward array.
Output WriteBarrier(Backprop& b) {
  const Output flow_out =
      NodeBuilder(&b.graph(), "Identity", At::current()).Name("flow_out").Input(b.Out(0)).Finish();
  ControlDependencies after(b.graph(), {flow_out});
  return NodeBuilder(&b.graph(), "Identity", At::current())
      .Name("write_barrier")
      .Input(b.Of(0))
      .Finish();
}

// Adds the gradient of an op that writes input `value` to an array: a read of the array of
// gradients.
void WriteGradient(Backprop& b, int value, const std::string& read, const OutputList& inputs) {
  const Output grad = b.Of(0);
  if (!grad) return;
  const Output flow = WriteBarrier(b);
  if (!flow) return;
  GradientArray array(b, grad, flow);
  if (Node* node = array.Access(read, inputs, "")) b.Into(value, Output(node));
  b.Into(b.op().num_inputs() - 1, flow);
}

// Adds the gradient of an op that reads from an array: a write to the array of gradients.
void ReadGradient(Backprop& b, const std::string& write, const OutputList& inputs) {
  const int flow = b.op().num_inputs() - 1;
  if (!inputs.back() && !inputs.front()) return;
  GradientArray array(b, b.Of(0), b.In(flow));
  if (Node* node = array.Access(write, inputs, "TensorArray" + write)) b.Into(flow, Output(node));
}

}  // namespace

void TensorArrayReadGradient(Backprop& b) { ReadGradient(b, "Write", {b.In(1), b.Of(0)}); }
void TensorArrayWriteGradient(Backprop& b) { WriteGradient(b, 2, "Read", {b.In(1)}); }
void TensorArrayGatherGradient(Backprop& b) { ReadGradient(b, "Scatter", {b.In(1), b.Of(0)}); }
void TensorArrayScatterGradient(Backprop& b) { WriteGradient(b, 2, "Gather", {b.In(1)}); }
void TensorArrayConcatGradient(Backprop& b) { ReadGradient(b, "Split", {b.Of(0), b.Out(1)}); }
void TensorArraySplitGradient(Backprop& b) { WriteGradient(b, 1, "Concat", {}); }

}  // namespace sluice
