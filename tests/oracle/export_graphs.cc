// Writes graphs that C++ built, including gradients, for TensorFlow to run. export_graphs FOLDER
// writes <name>.pb (GraphDef) and <name>.txt (lines "fetch …", "target …", "init …").
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "graph/build/cond.h"
#include "graph/build/scopes.h"
#include "graph/format/graph_def.h"
#include "graph/gradient/gradients.h"
#include "graph/status.h"
#include "ops/builders/ops.h"
#include "ops/state/variable.h"
#include "ops/sugar.h"

namespace sluice {
namespace {

// The steps of a graph.
struct Spec {
  OutputList fetches;
  std::vector<Operation> targets;
  std::vector<Operation> init;

  void Fetch(const std::vector<Grad>& grads) {
    for (const Grad& g : grads) fetches.push_back(ToDense(g));
  }
};

// Gradients of `y`; empty after an error, which stays in the graph.
std::vector<Grad> GradientsOf(Output y, const OutputList& xs) {
  absl::StatusOr<std::vector<Grad>> grads = Gradients({y}, xs);
  if (grads.ok()) return *grads;
  if (y.graph() != nullptr) y.graph()->SetError(grads.status());
  return std::vector<Grad>(xs.size());
}

void DenseLayers(Graph& g, Spec& spec) {
  Output x = Placeholder(g, DT_FLOAT, {4, 6}, "x");
  Variable w(g, "w",
             Tensor::Of<float>({6, 3}, {.1f, -.2f, .3f, .4f, -.5f, .6f, -.7f, .8f, .9f, .1f, -.2f,
                                        .3f, .4f, -.5f, .6f, -.7f, .8f, .9f}));
  Variable b(g, "b", Tensor::Of<float>({3}, {.5f, -.5f, .25f}), {.use_resource = false});
  Output hidden = Tanh(MatMul(x, w) + b);
  Output loss = ReduceMean(Square(hidden), {}, {.name = "loss"});
  spec.fetches = {loss, hidden};
  spec.Fetch(GradientsOf(loss, {w.handle(), b.handle(), x}));
  spec.init = {InitializeVariables(g)};
}

void TrainedWithSgd(Graph& g, Spec& spec) {
  Output x = Placeholder(g, DT_FLOAT, {-1, 3}, "x");
  Output y = Placeholder(g, DT_FLOAT, {-1, 1}, "y");
  Variable w(g, "w", Zeros(g, {3, 1}), {.use_resource = false});
  Output loss = ReduceMean(Square(MatMul(x, w) - y));
  const std::vector<Grad> grads = GradientsOf(loss, {w.handle()});
  Output updated = ApplyGradientDescent(w.handle(), Constant(g, 0.1f), grads[0].dense());
  spec.fetches = {loss, updated};
  spec.init = {InitializeVariables(g)};
}

void SoftmaxWithMomentum(Graph& g, Spec& spec) {
  Output x = Placeholder(g, DT_FLOAT, {5, 4}, "x");
  Output labels = Placeholder(g, DT_INT32, {5}, "labels");
  Variable w(g, "w", RandomNormal(g, {4, 4}, 0, 0.5, {.seed = 3}));
  Variable momentum(g, "w/Momentum", Zeros(g, {4, 4}), {.trainable = false});
  auto entropy = SparseSoftmaxCrossEntropyWithLogits(MatMul(x, w), labels);
  Output loss = ReduceMean(entropy.loss);
  const std::vector<Grad> grads = GradientsOf(loss, {w.handle()});
  Operation update =
      ResourceApplyMomentum(w.handle(), momentum.handle(), Constant(g, 0.2f), grads[0].dense(),
                            Constant(g, 0.9f), {.use_nesterov = true});
  spec.init = {InitializeVariables(g)};
  ControlDependencies after(g, {update});
  spec.fetches = {loss, w.Read()};
}

void ConvNet(Graph& g, Spec& spec) {
  Output x = Placeholder(g, DT_FLOAT, {2, 6, 6, 2}, "x");
  Output filter = Placeholder(g, DT_FLOAT, {3, 3, 2, 3}, "filter");
  Output bias = Placeholder(g, DT_FLOAT, {3}, "bias");
  Output net = Relu(BiasAdd(Conv2D(x, filter, {1, 1, 1, 1}, "SAME"), bias));
  net = MaxPool(net, {1, 2, 2, 1}, {1, 2, 2, 1}, "VALID");
  Output loss = ReduceSum(net * net);
  spec.fetches = {loss, net};
  spec.Fetch(GradientsOf(loss, {x, filter, bias}));
}

void RowsOfTables(Graph& g, Spec& spec) {
  Output ids = Placeholder(g, DT_INT32, {4}, "ids");
  Variable ref(g, "ref", RandomUniform(g, {5, 2}, -1, 1, {.seed = 1}), {.use_resource = false});
  Variable resource(g, "resource", RandomUniform(g, {5, 2}, -1, 1, {.seed = 2}));
  Output rows = GatherV2(ref.handle(), ids, Constant(g, 0)) *
                ResourceGather(resource.handle(), ids, DT_FLOAT);
  Output loss = ReduceSum(Exp(rows));
  const std::vector<Grad> grads = GradientsOf(loss, {ref.handle(), resource.handle()});
  const IndexedSlices slices = grads[0].slices();
  Output updated = ScatterSub(ref.handle(), slices.indices, slices.values * 0.1f);
  spec.fetches = {loss, updated, ToDense(grads[1])};
  spec.init = {InitializeVariables(g)};
}

void Branches(Graph& g, Spec& spec) {
  Output x = Placeholder(g, DT_FLOAT, {3}, "x");
  Output scale = Placeholder(g, DT_FLOAT, {}, "scale");
  Output positive = Greater(ReduceSum(x), Constant(g, 0.0f));
  Output y = Cond(
      positive, [&] { return x * scale; }, [&] { return Square(x); })[0];
  spec.fetches = {y};
  spec.Fetch(GradientsOf(y, {x, scale}));
}

// The gradient of a Cond's gradient, also for a Cond inside a branch.
void SecondGradientsOfBranches(Graph& g, Spec& spec) {
  const Output x = Placeholder(g, DT_DOUBLE, {3}, "x");
  const Output scale = Placeholder(g, DT_DOUBLE, {}, "scale");
  const auto inner = [&] {
    return Cond(
        Greater(scale, Constant(g, 1.0)), [&] { return Exp(x * scale); },
        [&] { return Square(x) * scale; });
  };
  const Output y = Cond(
      Greater(ReduceSum(x), Constant(g, 0.0)), [&] { return Square(x) * x * scale; }, inner)[0];
  const std::vector<Grad> first = GradientsOf(y, {x, scale});
  if (!g.status().ok()) return;
  const Output z =
      ReduceSum(Square(ToDense(first[0]))) + Square(ToDense(first[1])) + ReduceSum(y * y);
  spec.fetches = {z};
  spec.Fetch(GradientsOf(z, {x, scale}));
}

// Shapes that are only known in a step, broadcasting, slices, reductions.
void UnknownShapes(Graph& g, Spec& spec) {
  Output a = Placeholder(g, DT_DOUBLE, {-1, 4}, "a");
  Output b = Placeholder(g, DT_DOUBLE, {4}, "b");
  Output c = Concat({a * b, a - b}, 0) / (Abs(b) + 1.0);
  Output d = Transpose(c, {1, 0});
  Output y = ReduceMax(d, 1) + ReduceMean(Slice(d, {0, 1}, {4, -1}), 1) - ReduceProd(b);
  spec.fetches = {y, ShapeOf(c)};
  spec.Fetch(GradientsOf(y, {a, b}));
}

void ConstantsOfAllTypes(Graph& g, Spec& spec) {
  for (const Tensor& t :
       {Tensor::Vector<float>({1.5f, -2}), Tensor::Scalar(2.5), Tensor::Vector<int32_t>({1, -2}),
        Tensor::Scalar<int64_t>(-5), Tensor::Vector<int8_t>({-1, 2}), Tensor::Scalar<int16_t>(-7),
        Tensor::Vector<uint8_t>({200, 3}), Tensor::Scalar<uint16_t>(60000),
        Tensor::Vector<uint32_t>({4000000000u, 1}), Tensor::Scalar<uint64_t>(1ull << 63),
        Tensor::Vector<bool>({true, false}), Tensor::Vector<std::string>({"a", "b\xff"}),
        Tensor::Vector<half>({half(1.5f), half(-2.0f)}), Tensor::Scalar(half(0.25f)),
        Tensor::Vector<bfloat16>({bfloat16(1.5f)}), Tensor::Scalar(complex64(1, -2)),
        Tensor::Vector<complex128>({{1, 2}, {3, 4}}), Tensor(DT_FLOAT, {0, 3})}) {
    spec.fetches.push_back(Identity(Constant(g, t)));
  }
}

void QueueOfRows(Graph& g, Spec& spec) {
  Output x = Placeholder(g, DT_FLOAT, {3, 2}, "x");
  Output queue = FIFOQueueV2(g, {DT_FLOAT}, {.shapes = {PartialShape({2})}, .capacity = 5});
  Operation enqueue = QueueEnqueueManyV2(queue, {x});
  ControlDependencies after(g, {enqueue});
  spec.fetches = {QueueDequeueManyV2(queue, Constant(g, 3), {DT_FLOAT})[0]};
}

struct Example {
  const char* name;
  void (*build)(Graph&, Spec&);
};
constexpr Example kExamples[] = {
    {"dense_layers", DenseLayers},
    {"trained_with_sgd", TrainedWithSgd},
    {"softmax_with_momentum", SoftmaxWithMomentum},
    {"conv_net", ConvNet},
    {"rows_of_tables", RowsOfTables},
    {"branches", Branches},
    {"second_gradients_of_branches", SecondGradientsOfBranches},
    {"unknown_shapes", UnknownShapes},
    {"constants_of_all_types", ConstantsOfAllTypes},
    {"queue_of_rows", QueueOfRows},
};

absl::Status Write(const Example& example, const std::string& folder, bool strip) {
  Graph g;
  Spec spec;
  example.build(g, spec);
  SLUICE_RETURN_IF_ERROR(g.status());
  SLUICE_ASSIGN_OR_RETURN(const pb::GraphDef def,
                          ExportGraphDef(g, {.strip_default_attrs = strip}));
  std::ofstream graph(StrCat(folder, "/", example.name, ".pb"), std::ios::binary);
  def.SerializeToOstream(&graph);
  std::ofstream text(StrCat(folder, "/", example.name, ".txt"));
  for (const Output& f : spec.fetches) {
    if (!f) return absl::InternalError("a fetch was not built");
    text << "fetch " << f.name() << "\n";
  }
  for (const Operation& t : spec.targets) text << "target " << t.name() << "\n";
  for (const Operation& t : spec.init) text << "init " << t.name() << "\n";
  return graph.flush() && text.flush() ? absl::OkStatus()
                                       : absl::UnknownError("cannot write " + folder);
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: export_graphs FOLDER\n");
    return 2;
  }
  int failures = 0;
  bool strip = false;
  for (const sluice::Example& example : sluice::kExamples) {
    const absl::Status status = sluice::Write(example, argv[1], strip = !strip);
    if (status.ok()) continue;
    std::fprintf(stderr, "%s: %s\n", example.name, status.ToString().c_str());
    ++failures;
  }
  return failures;
}
