// The declared traits of ops are correct, and required traits are declared.
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <set>

#include "executor/device/resource_manager.h"
#include "executor/kernel/elementwise_loops.h"
#include "executor/passes/fold_constants.h"
#include "graph/infer/shape_context.h"
#include "graph/infer/view_sizes.h"
#include "graph/ir/constant.h"
#include "graph/ir/graph.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

OP(TraitsSink, "Stays, so that what it reads does.")
    .Input("x", "T")
    .Attr("T", TypeAttr())
    .Stateful()
    .Shape(NoOutputs());

std::vector<const OpDef*> AllOps() { return OpRegistry::Global().All(); }

bool Takes(const OpDef& op, const std::function<bool(const ArgDef&)>& matches) {
  return std::any_of(op.inputs.begin(), op.inputs.end(), matches);
}
bool NamesResource(const ArgDef& arg) { return arg.is_ref || arg.type == DT_RESOURCE; }

// Values that rules often overlook, converted to the C++ type.
template <typename T>
std::vector<T> NumbersOf() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> numbers = {T(0), T(1), T(3), Limits::max(), Limits::lowest(), T(-1)};
  if constexpr (std::is_floating_point_v<T>) {
    numbers.insert(numbers.end(), {T(-0.0), Limits::infinity(), -Limits::infinity(),
                                   Limits::quiet_NaN(), -Limits::quiet_NaN(), Limits::min() / 2});
  }
  numbers.resize(12, T(7));
  return numbers;
}

template <typename T>
Tensor Filled(const TensorShape& shape) {
  const std::vector<T> numbers = NumbersOf<T>();
  return Tensor::Of<T>(shape, absl::MakeConstSpan(numbers));
}

// Twelve elements; nullopt for types that are not supported here.
std::optional<Tensor> Numbers(DataType dtype, const TensorShape& shape) {
  switch (dtype) {
    case DT_FLOAT:
      return Filled<float>(shape);
    case DT_DOUBLE:
      return Filled<double>(shape);
    case DT_INT8:
      return Filled<int8_t>(shape);
    case DT_INT16:
      return Filled<int16_t>(shape);
    case DT_INT32:
      return Filled<int32_t>(shape);
    case DT_INT64:
      return Filled<int64_t>(shape);
    case DT_UINT8:
      return Filled<uint8_t>(shape);
    case DT_UINT16:
      return Filled<uint16_t>(shape);
    case DT_UINT32:
      return Filled<uint32_t>(shape);
    case DT_UINT64:
      return Filled<uint64_t>(shape);
    case DT_COMPLEX64: {
      const Tensor parts = Filled<float>({12});
      Tensor z(DT_COMPLEX64, shape);
      for (int i = 0; i < 12; ++i) {
        z.data<complex64>()[i] = {parts.data<float>()[i], parts.data<float>()[11 - i]};
      }
      return z;
    }
    case DT_BOOL:
      return Tensor::Of<bool>(
          shape, {true, false, true, true, false, false, true, false, true, false, true, false});
    default:
      return std::nullopt;
  }
}

template <typename T>
Tensor ScalarAs(double value) {
  return Tensor::Scalar(static_cast<T>(value));
}
Tensor ScalarOf(DataType dtype, double value) {
  switch (dtype) {
    case DT_FLOAT:
      return ScalarAs<float>(value);
    case DT_DOUBLE:
      return ScalarAs<double>(value);
    case DT_INT8:
      return ScalarAs<int8_t>(value);
    case DT_INT16:
      return ScalarAs<int16_t>(value);
    case DT_INT32:
      return ScalarAs<int32_t>(value);
    case DT_INT64:
      return ScalarAs<int64_t>(value);
    case DT_UINT8:
      return ScalarAs<uint8_t>(value);
    case DT_UINT16:
      return ScalarAs<uint16_t>(value);
    case DT_UINT32:
      return ScalarAs<uint32_t>(value);
    default:
      return ScalarAs<uint64_t>(value);
  }
}

bool SameBits(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

// A graph of single nodes with constant inputs.
class Samples {
 public:
  Output Constant(const Tensor& value) {
    NodeSpec spec;
    spec.op = "Const";
    spec.attrs = {{"dtype", value.dtype()}, {"value", value}};
    return Add(std::move(spec));
  }

  // Type attributes are those of the inputs, `type` or the default. Returns an invalid output if
  // the op rejects the inputs.
  Output Node(const OpDef& op, DataType type, const OutputList& inputs, AttrMap attrs = {}) {
    NodeSpec spec;
    spec.op = op.name;
    spec.attrs = std::move(attrs);
    size_t next = 0;
    for (const ArgDef& arg : op.inputs) {
      if (arg.is_ref || !arg.type_list_attr.empty() || next >= inputs.size()) return Output();
      const DataType given = inputs[next].dtype();
      if (arg.type != DT_INVALID && arg.type != given) return Output();
      if (!arg.type_attr.empty()) spec.attrs.emplace(arg.type_attr, given);
      const size_t count = arg.number_attr.empty() ? 1 : inputs.size() - op.inputs.size() + 1;
      if (!arg.number_attr.empty()) {
        spec.attrs.emplace(arg.number_attr, static_cast<int64_t>(count));
      }
      next += count;
    }
    if (next != inputs.size()) return Output();
    for (const AttrDef& attr : op.attrs) {
      if (attr.default_value) continue;
      if (attr.kind == AttrKind::kType && !attr.is_list) spec.attrs.emplace(attr.name, type);
      if (attr.kind == AttrKind::kShape) spec.attrs.emplace(attr.name, inputs[0].shape());
      if (attr.kind == AttrKind::kString && !attr.is_list && !attr.allowed_strings.empty()) {
        spec.attrs.emplace(attr.name, attr.allowed_strings[0]);
      }
    }
    spec.inputs = inputs;
    return Add(std::move(spec));
  }

  // Registers y, whose value Compute computes from the constants. Computed returns null if the
  // kernel failed.
  void Watch(Output y) {
    NodeSpec spec;
    spec.op = "TraitsSink";
    spec.attrs = {{"T", y.dtype()}};
    spec.inputs = {y};
    sinks_[{y.node, y.index}] = Add(std::move(spec)).node;
  }
  void Compute() { ASSERT_TRUE(FoldConstants(graph_, {}).ok()); }
  const Tensor* Computed(Output y) const {
    const sluice::Node* value = sinks_.at({y.node, y.index})->input(0).node;
    return IsConstant(*value) ? value->FindAttr<Tensor>("value") : nullptr;
  }

 private:
  Output Add(NodeSpec spec) {
    spec.name = "n" + std::to_string(names_++);
    const absl::StatusOr<sluice::Node*> node = graph_.Add(std::move(spec));
    if (!node.ok()) return Output();
    if (InferShapes(*node).ok()) return Output(*node);
    graph_.Remove(*node);
    return Output();
  }

  Graph graph_;
  int names_ = 0;
  // By the node, which Compute may remove, and the output.
  std::map<std::pair<const sluice::Node*, int>, sluice::Node*> sinks_;
};

// Second inputs that some op could accept.
std::vector<Tensor> Operands() {
  std::vector<Tensor> operands = {Tensor::Vector<bool>({true, false}),
                                  Tensor::Vector<bool>({true})};
  for (const std::vector<int32_t>& v : std::vector<std::vector<int32_t>>{
           {0}, {1}, {0, 1}, {1, 0}, {1, 1}, {2, 6}, {6, 2}, {-1}, {12}, {2, -1}, {1, 2, 6}}) {
    operands.push_back(Tensor::Vector<int32_t>(absl::MakeConstSpan(v)));
  }
  return operands;
}

// Calls test(samples, nodes of the op on x) for all operands that the op accepts.
void ForNodesOf(const OpDef& op, Samples& samples, Output x,
                const std::function<void(Output, const OutputList& rest)>& test) {
  const size_t inputs = op.inputs.size();
  if (inputs == 1) {
    if (const Output y = samples.Node(op, x.dtype(), {x})) test(y, {});
  } else if (inputs == 2) {
    for (const Tensor& operand : Operands()) {
      const OutputList rest = {samples.Constant(operand)};
      if (const Output y = samples.Node(op, x.dtype(), {x, rest[0]})) test(y, rest);
    }
  }
}

TEST(TraitsTest, OpsHaveKernelsUnlessTheExecutorRunsThemItself) {
  for (const OpDef* op : AllOps()) {
    if (op->deprecated_at != 0 || RunsWithoutKernel(op->traits.role)) continue;
    if (op->name == "TraitsSink") continue;
    EXPECT_FALSE(KernelRegistry::Global().For(op->name).empty()) << op->name;
  }
}

TEST(TraitsTest, OpsThatCallFunctionsOrHaveStateAreImpure) {
  for (const OpDef* op : AllOps()) {
    const bool calls = std::any_of(op->attrs.begin(), op->attrs.end(), [](const AttrDef& attr) {
      return attr.kind == AttrKind::kFunction;
    });
    if (calls || op->is_stateful) {
      EXPECT_NE(op->traits.impurity, Impurity::kNone) << op->name;
    }
  }
}

// An op that takes a reference or handle updates the variable, unless it declares another use.
TEST(TraitsTest, UsesOfVariablesFitTheInputsAndOutputs) {
  for (const OpDef* op : AllOps()) {
    const bool takes = Takes(*op, NamesResource);
    const bool makes = !op->outputs.empty() && NamesResource(op->outputs[0]);
    switch (op->traits.variable_use) {
      case VariableUse::kUpdates:
        break;
      case VariableUse::kAssigns:
      case VariableUse::kReads:
      case VariableUse::kInspects:
        EXPECT_TRUE(takes) << op->name;
        break;
      case VariableUse::kReadsValue:
        EXPECT_TRUE(takes && !makes && op->outputs.size() == 1) << op->name;
        break;
      case VariableUse::kForwards:
        EXPECT_FALSE(op->outputs.empty()) << op->name;
        break;
      case VariableUse::kCreates:
        EXPECT_TRUE(makes && op->inputs.empty()) << op->name;
        EXPECT_TRUE(op->FindAttr("dtype") != nullptr && op->FindAttr("shape") != nullptr);
        break;
    }
    if (!takes && !makes) {
      EXPECT_TRUE(op->traits.variable_use == VariableUse::kUpdates ||
                  op->traits.variable_use == VariableUse::kForwards)
          << op->name;
    }
  }
}

TEST(TraitsTest, ImageOpsDeclareTheirRolesOrWhyTheyKeepTheirLayout) {
  for (const OpDef* op : AllOps()) {
    if (op->FindAttr("data_format") == nullptr) continue;
    EXPECT_NE(op->traits.image_roles != nullptr, op->traits.keeps_layout_because != nullptr)
        << op->name;
  }
}

TEST(TraitsTest, RecomputedOpsAreThoseThatWereMeasured) {
  std::map<RecomputeCost, std::set<std::string>> ops;
  for (const OpDef* op : AllOps()) {
    if (op->traits.elementwise == ElementwiseInputs::kNone) {
      ops[op->traits.recompute_cost].insert(op->name);
    }
    EXPECT_EQ(op->traits.multiply_adds != nullptr,
              op->traits.recompute_cost == RecomputeCost::kProduct)
        << op->name;
  }
  EXPECT_EQ(ops[RecomputeCost::kProduct],
            (std::set<std::string>{"BatchMatMul", "BatchMatMulV2", "Conv2D", "Conv3D",
                                   "DepthwiseConv2dNative", "MatMul", "_Attention", "_FusedConv2D",
                                   "_FusedMatMul", "_MatMulColumns", "_PackedMatMul"}));
  // 12 of them are eight-bit ops, which read a quarter of the bytes of those that were measured.
  EXPECT_EQ(ops[RecomputeCost::kElements].size(), 52u);
}

// For each type: whether a node of the op has an elementwise kernel, and whether it broadcasts.
TEST(TraitsTest, ElementwiseOpsAreThoseOfElementwiseKernels) {
  for (const OpDef* op : AllOps()) {
    for (int t = DT_FLOAT; t < kDataTypeCount; ++t) {
      const DataType type = static_cast<DataType>(t);
      Samples samples;
      OutputList inputs;
      for (const ArgDef& arg : op->inputs) {
        const DataType of_input = arg.type != DT_INVALID ? arg.type : type;
        const std::optional<Tensor> x = Numbers(of_input, {12});
        if (x) inputs.push_back(samples.Constant(*x));
      }
      if (inputs.empty() || inputs.size() != op->inputs.size()) continue;
      const Output y = samples.Node(*op, type, inputs);
      if (!y) continue;
      ResourceManager resources;
      KernelInit init(*y.node, "/device:CPU:0", &resources);
      const auto kernel = KernelRegistry::Global().Make(init, "CPU");
      if (!kernel.ok()) continue;
      const auto* loops = dynamic_cast<const ElementwiseLoopKernel*>(kernel->get());
      const bool is_elementwise = loops != nullptr && !loops->loops().y_is_row;
      EXPECT_EQ(op->traits.elementwise != ElementwiseInputs::kNone, is_elementwise)
          << op->name << " of " << DataTypeName(type);
      if (!is_elementwise) continue;
      EXPECT_EQ(op->traits.elementwise == ElementwiseInputs::kBroadcast,
                loops->loops().x_alone != nullptr)
          << op->name;
    }
  }
}

TEST(TraitsTest, NeutralElementsKeepTheBits) {
  int checked = 0;
  for (const OpDef* op : AllOps()) {
    if (!op->traits.neutral) continue;
    const NeutralElement& neutral = *op->traits.neutral;
    for (DataType type : neutral.types.list()) {
      Samples samples;
      const std::optional<Tensor> numbers = Numbers(type, {2, 6});
      ASSERT_TRUE(numbers);
      const Output x = samples.Constant(*numbers);
      const Output value = samples.Constant(ScalarOf(type, neutral.value));
      OutputList results = {samples.Node(*op, type, {x, value})};
      if (!results[0]) continue;  // not a type of the op
      if (neutral.on_either_side) results.push_back(samples.Node(*op, type, {value, x}));
      for (const Output& y : results) samples.Watch(y);
      samples.Compute();
      for (const Output& y : results) {
        const Tensor* computed = samples.Computed(y);
        if (computed == nullptr) continue;  // no kernel
        EXPECT_TRUE(SameBits(*computed, *numbers)) << op->name << " of " << DataTypeName(type);
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 80);
}

TEST(TraitsTest, WhatIsAnIdentityOrUndoesItselfGivesTheInput) {
  for (const OpDef* op : AllOps()) {
    const OpTraits& traits = op->traits;
    if (traits.is_identity == nullptr && traits.undoes == nullptr) continue;
    int checked = 0;
    for (int t = DT_FLOAT; t < kDataTypeCount; ++t) {
      const std::optional<Tensor> numbers = Numbers(static_cast<DataType>(t), {2, 6});
      if (!numbers) continue;
      Samples samples;
      OutputList same;
      const Output x = samples.Constant(*numbers);
      ForNodesOf(*op, samples, x, [&](Output y, const OutputList& rest) {
        if (traits.is_identity != nullptr && traits.is_identity(*y.node)) same.push_back(y);
        if (traits.undoes == nullptr) return;
        OutputList inputs = {y};
        inputs.insert(inputs.end(), rest.begin(), rest.end());
        const Output outer = samples.Node(*op, x.dtype(), inputs);
        if (outer && traits.undoes(*outer.node, *y.node)) same.push_back(outer);
      });
      for (const Output& y : same) samples.Watch(y);
      samples.Compute();
      for (const Output& y : same) {
        const Tensor* computed = samples.Computed(y);
        if (computed == nullptr) continue;
        EXPECT_TRUE(SameBits(*computed, *numbers))
            << op->name << " of " << DataTypeName(numbers->dtype());
        ++checked;
      }
    }
    EXPECT_GT(checked, 0) << op->name;
  }
}

TEST(TraitsTest, SizesOfViewsAreThoseOfTheKernel) {
  for (const OpDef* op : AllOps()) {
    if (op->traits.view_sizes == nullptr) continue;
    int checked = 0;
    for (const TensorShape& shape : {TensorShape{2, 6}, TensorShape{1, 12}, TensorShape{12}}) {
      Samples samples;
      std::vector<std::pair<Output, ViewSizes>> views;
      const Output x = samples.Constant(*Numbers(DT_FLOAT, shape));
      ForNodesOf(*op, samples, x, [&](Output y, const OutputList&) {
        const auto sizes = op->traits.view_sizes(*y.node, *SizesOf(x.shape()));
        if (sizes) views.emplace_back(y, *sizes);
      });
      for (const auto& [y, sizes] : views) samples.Watch(y);
      samples.Compute();
      for (const auto& [y, sizes] : views) {
        const Tensor* computed = samples.Computed(y);
        ASSERT_NE(computed, nullptr) << op->name;
        EXPECT_EQ(computed->shape().dims(), absl::MakeConstSpan(sizes)) << op->name;
        ++checked;
      }
    }
    EXPECT_GT(checked, 2) << op->name;
  }
}

// All combinations of `count` values.
std::vector<std::vector<int>> Choices(size_t count, int values) {
  std::vector<std::vector<int>> all = {{}};
  for (size_t i = 0; i < count; ++i) {
    std::vector<std::vector<int>> longer;
    for (const std::vector<int>& choice : all) {
      for (int v = 0; v < values; ++v) {
        longer.push_back(choice);
        longer.back().push_back(v);
      }
    }
    all = std::move(longer);
  }
  return all;
}

TEST(TraitsTest, ConstantValuesAreThoseOfTheKernel) {
  const std::vector<Tensor> values = {Tensor::Scalar(0),
                                      Tensor::Scalar(1),
                                      Tensor::Scalar(-2),
                                      Tensor::Vector<int32_t>({}),
                                      Tensor::Vector<int32_t>({0}),
                                      Tensor::Vector<int32_t>({2}),
                                      Tensor::Vector<int32_t>({-1}),
                                      Tensor::Vector<int32_t>({2, 0, 1})};
  for (const OpDef* op : AllOps()) {
    const OpTraits& traits = op->traits;
    if (traits.constant_value == nullptr || traits.shape_query != ShapeQuery::kNone) continue;
    if (traits.impurity != Impurity::kNone) continue;  // never computed before a step
    std::vector<AttrMap> attrs = {{}};
    for (const char* mask : {"begin_mask", "end_mask", "shrink_axis_mask"}) {
      if (op->FindAttr(mask) == nullptr) continue;
      for (size_t i = 0, n = attrs.size(); i < n; ++i) {
        attrs.push_back(attrs[i]);
        attrs.back()[mask] = int64_t{1};
      }
    }
    const bool has_list = Takes(*op, [](const ArgDef& arg) { return arg.is_list(); });
    const size_t num_inputs = op->inputs.size() + (has_list ? 1 : 0);
    Samples samples;
    OutputList constants;
    for (const Tensor& value : values) constants.push_back(samples.Constant(value));
    std::vector<std::pair<Output, Tensor>> known;
    for (const AttrMap& with : attrs) {
      for (const std::vector<int>& choice : Choices(num_inputs, static_cast<int>(values.size()))) {
        OutputList inputs;
        for (int i : choice) inputs.push_back(constants[i]);
        const Output y = samples.Node(*op, DT_INT32, inputs, with);
        if (!y) continue;
        std::optional<Tensor> value = ConstantValue(y);
        if (!value) continue;
        samples.Watch(y);
        known.emplace_back(y, *std::move(value));
      }
    }
    samples.Compute();
    int checked = 0;
    for (const auto& [y, value] : known) {
      const Tensor* computed = samples.Computed(y);
      if (computed == nullptr) continue;  // the step reports the kernel's error
      ++checked;
      ASSERT_TRUE(SameBits(*computed, value)) << op->name << ": " << value.ToString(10)
                                              << ", the kernel gives " << computed->ToString(10);
    }
    EXPECT_GT(checked, 0) << op->name;
  }
}

}  // namespace
}  // namespace sluice
