#include "executor/passes/choose_layout.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "executor/passes/image_chains.h"
#include "executor/passes/rewrite.h"
#include "graph/ir/constant.h"
#include "graph/ir/frames.h"
#include "graph/ir/purity.h"
#include "graph/op/op_def.h"
#include "graph/status.h"

namespace sluice {
namespace {

constexpr char kTranspose[] = "Transpose";
constexpr char kGather[] = "Gather";

// Whether Transpose has a kernel for the type.
bool CanBeTurned(DataType type) { return RealTypes().contains(type) || type == DT_BOOL; }

Tensor OrderTensor(const ImageOrder& order) {
  Tensor t(DT_INT32, {4});
  std::copy(order.begin(), order.end(), t.data<int32_t>());
  return t;
}

// Element or row d of the result is row kChannelsLast[d] of `rows`.
template <typename T>
Tensor RowsInOrder(const Tensor& rows) {
  Tensor t(rows.dtype(), rows.shape());
  const int64_t width = rows.num_elements() / 4;
  for (int d = 0; d < 4; ++d) {
    std::copy_n(rows.data<T>() + kChannelsLast[d] * width, width, t.data<T>() + d * width);
  }
  return t;
}

template <typename T>
Tensor AxesChannelsLast(const Tensor& axes) {
  Tensor t(axes.dtype(), axes.shape());
  for (int64_t i = 0; i < axes.num_elements(); ++i) {
    const T axis = axes.data<T>()[i];
    t.data<T>()[i] = static_cast<T>(kChannelsFirst[axis < 0 ? axis + 4 : axis]);
  }
  return t;
}

// The operand in channels-last order.
Tensor Turned(const Tensor& operand, OperandKind kind) {
  const bool wide = operand.dtype() == DT_INT64;
  if (kind == OperandKind::kAxes) {
    return wide ? AxesChannelsLast<int64_t>(operand) : AxesChannelsLast<int32_t>(operand);
  }
  return wide ? RowsInOrder<int64_t>(operand) : RowsInOrder<int32_t>(operand);
}

// Makes the chosen nodes channels-last, and transposes the images that enter and leave them.
class Turner {
 public:
  Turner(Graph& graph, Rewriter& rewriter, const std::set<std::string>& keep, const Frames& frames,
         const std::vector<ImageNode>& chosen)
      : graph_(graph), rewriter_(rewriter), keep_(keep), frames_(frames), chosen_(chosen) {
    for (const ImageNode& n : chosen) roles_of_[n.node] = &n.roles;
  }

  absl::Status Run() {
    for (const ImageNode& n : chosen_) {
      if (n.roles.makes_image) SLUICE_RETURN_IF_ERROR(TurnReaders(n.node));
    }
    for (const ImageNode& n : chosen_) {
      SLUICE_RETURN_IF_ERROR(TurnInputs(n));
      SLUICE_RETURN_IF_ERROR(TurnOperand(n));
    }
    // Last: the nodes added above derive their shapes from channels-first images.
    for (const ImageNode& n : chosen_) PutChannelsLast(n.node, n.roles);
    return absl::OkStatus();
  }

 private:
  const ImageRoles* RolesOf(const Node* node) const {
    const auto it = roles_of_.find(node);
    return it == roles_of_.end() ? nullptr : it->second;
  }
  bool IsChannelsLast(Output t) const {
    const ImageRoles* roles = RolesOf(t.node);
    return roles != nullptr && roles->makes_image && t.index == 0;
  }
  bool TakesImage(const Use& use) const {
    const ImageRoles* roles = RolesOf(use.dst);
    return roles != nullptr && std::find(roles->images.begin(), roles->images.end(),
                                         use.dst_input) != roles->images.end();
  }
  bool TakesSizes(const Use& use) const {
    const ImageRoles* roles = RolesOf(use.dst);
    return roles != nullptr && roles->operand == use.dst_input &&
           roles->operand_kind == OperandKind::kSizes;
  }

  // A constant on the device of x and, in a loop, in its frame.
  absl::StatusOr<Node*> ConstantFor(Output x, const char* what, const Tensor& value) {
    SLUICE_ASSIGN_OR_RETURN(
        Node* const constant,
        ConstantOnDeviceOf(graph_, *x.node, StrCat(x.node->name(), what), value));
    Colocate(*x.node, constant);
    const int id = x.node->id();
    const bool known = id < static_cast<int>(frames_.of_outputs.size());
    // A node that was added here may be in a loop.
    if (!known || frames_.of_outputs[id] != 0) graph_.AddControlEdge(x.node, constant);
    return constant;
  }

  static void Colocate(const Node& with, Node* node) {
    if (const auto* companions = with.FindAttr<std::vector<std::string>>("_class")) {
      node->SetAttr("_class", *companions);
    }
  }

  // `op`(x, order): a Transpose of images or a Gather of their sizes.
  absl::StatusOr<Output> InOrderOf(const char* op, Output x, const ImageOrder& order,
                                   AttrMap attrs) {
    const bool last = order == kChannelsLast;
    SLUICE_ASSIGN_OR_RETURN(
        Node* const constant,
        ConstantFor(x, last ? "/nhwc/order" : "/nchw/order", OrderTensor(order)));
    NodeSpec spec;
    spec.name = graph_.UniqueName(StrCat(x.node->name(), last ? "/nhwc" : "/nchw"));
    spec.op = op;
    spec.inputs = {x, Output(constant)};
    spec.device = x.node->device();
    spec.attrs = std::move(attrs);
    spec.at = x.node->at();
    SLUICE_ASSIGN_OR_RETURN(Node* const node, graph_.Add(std::move(spec)));
    node->set_assigned_device(x.node->assigned_device());
    Colocate(*x.node, node);
    return Output(node);
  }

  absl::StatusOr<Output> Transposed(Output x, const ImageOrder& order) {
    SLUICE_ASSIGN_OR_RETURN(
        const Output y,
        InOrderOf(kTranspose, x, order, {{"T", BaseType(x.dtype())}, {"Tperm", DT_INT32}}));
    const bool last = order == kChannelsLast;
    y.node->set_output_shape(0, last ? InOrder(x.shape(), order) : x.shape());
    return y;
  }

  absl::StatusOr<Output> SizesInOrder(Output sizes, const ImageOrder& order) {
    SLUICE_ASSIGN_OR_RETURN(
        const Output y, InOrderOf(kGather, sizes, order,
                                  {{"Tparams", BaseType(sizes.dtype())}, {"Tindices", DT_INT32}}));
    y.node->set_output_shape(0, PartialShape::Vector(4));
    return y;
  }

  // Readers outside the chain read a Transpose of the image back to its original order.
  absl::Status TurnReaders(Node* node) {
    const std::vector<Use> uses(node->uses().begin(), node->uses().end());
    Output back;
    for (const Use& use : uses) {
      if (use.src_output != 0 || TakesImage(use)) continue;
      if (ReadsShapeAlone(*use.dst) && !keep_.contains(use.dst->name())) {
        SLUICE_RETURN_IF_ERROR(TurnShape(use));
        continue;
      }
      if (!back) {
        SLUICE_ASSIGN_OR_RETURN(back, Transposed(Output(node), kChannelsFirst));
      }
      SLUICE_RETURN_IF_ERROR(graph_.UpdateInput(use.dst, use.dst_input, back));
    }
    return absl::OkStatus();
  }

  // A Shape or ShapeN now returns the sizes with channels last. Nodes that became channels-last
  // take them as they are.
  absl::Status TurnShape(const Use& of) {
    if (of.dst->traits().shape_query != ShapeQuery::kSizes) return absl::OkStatus();
    const Output sizes(of.dst, of.dst_input);
    const std::vector<Use> uses(of.dst->uses().begin(), of.dst->uses().end());
    Output back;
    for (const Use& use : uses) {
      if (use.src_output != sizes.index || TakesSizes(use)) continue;
      if (!back) {
        SLUICE_ASSIGN_OR_RETURN(back, SizesInOrder(sizes, kChannelsFirst));
      }
      SLUICE_RETURN_IF_ERROR(graph_.UpdateInput(use.dst, use.dst_input, back));
    }
    return absl::OkStatus();
  }

  absl::Status TurnInputs(const ImageNode& n) {
    for (int i : n.roles.images) {
      const Output x = n.node->input(i);
      if (IsChannelsLast(x)) continue;
      if (IsTransposeTo(*x.node, kChannelsFirst)) {
        SLUICE_ASSIGN_OR_RETURN(const bool done,
                                rewriter_.Shorten(n.node, i, {x.node->input(0), {x.node}}));
        if (done) continue;
      }
      Output& turned = turned_[x];
      if (!turned) {
        SLUICE_ASSIGN_OR_RETURN(turned, Transposed(x, kChannelsLast));
      }
      SLUICE_RETURN_IF_ERROR(graph_.UpdateInput(n.node, i, turned));
    }
    return absl::OkStatus();
  }

  absl::Status TurnOperand(const ImageNode& n) {
    if (n.roles.operand < 0) return absl::OkStatus();
    const Output x = n.node->input(n.roles.operand);
    const bool is_constant = IsConstant(*x.node);
    if (n.roles.operand_kind == OperandKind::kSizes && !is_constant) {
      const Output like = TensorWithShape(x);
      if (like && IsChannelsLast(like)) return absl::OkStatus();
      Output& turned = turned_[x];
      if (!turned) {
        SLUICE_ASSIGN_OR_RETURN(turned, SizesInOrder(x, kChannelsLast));
      }
      return graph_.UpdateInput(n.node, n.roles.operand, turned);
    }
    const Tensor& value = *ConstantBehind(x);
    SLUICE_ASSIGN_OR_RETURN(Node* const constant,
                            ConstantFor(x, "/nhwc", Turned(value, n.roles.operand_kind)));
    // The new constant is on the same branch and in the same loop.
    if (!is_constant) graph_.AddControlEdge(x.node, constant);
    for (Node* before : x.node->control_inputs()) graph_.AddControlEdge(before, constant);
    return graph_.UpdateInput(n.node, n.roles.operand, Output(constant));
  }

  Graph& graph_;
  Rewriter& rewriter_;
  const std::set<std::string>& keep_;
  const Frames& frames_;
  const std::vector<ImageNode>& chosen_;
  absl::flat_hash_map<const Node*, const ImageRoles*> roles_of_;
  absl::flat_hash_map<Output, Output, std::hash<Output>> turned_;
};

// Whether the pass may change the node and transpose its images.
bool MayBeTurned(const ImageNode& n, const Rewriter& rewriter, const PassOptions& options) {
  if (!IsPure(*n.node) || options.keep.contains(n.node->name())) return false;
  if (n.roles.makes_image && !CanBeTurned(n.node->output_type(0))) return false;
  return std::all_of(n.roles.images.begin(), n.roles.images.end(), [&](int i) {
    const Output x = n.node->input(i);
    return CanBeTurned(x.dtype()) && !rewriter.MayLieInVariable(*x.node);
  });
}

bool IsConvolutionOfChannelsFirst(const Node& node) {
  if (!HasChannelsFirst(node) || node.traits().image_roles == nullptr) return false;
  const std::optional<ImageRoles> roles = node.traits().image_roles(node);
  return roles && roles->is_convolution;
}

bool HasOps() {
  const OpRegistry& ops = OpRegistry::Global();
  return ops.Find(kTranspose) != nullptr && ops.Find(kGather) != nullptr;
}

}  // namespace

absl::StatusOr<int> ChooseLayout(Graph& graph, const PassOptions& options) {
  const std::vector<Node*> all = graph.nodes();
  const bool any = std::any_of(
      all.begin(), all.end(), [](const Node* node) { return IsConvolutionOfChannelsFirst(*node); });
  if (!any || !HasOps()) return 0;  // most graphs
  SLUICE_ASSIGN_OR_RETURN(const std::vector<Node*> order, TopologicalOrder(graph));
  const absl::StatusOr<Frames> frames = AssignFrames(graph, order);
  if (!frames.ok()) return 0;  // the plan reports the error
  Rewriter rewriter(graph, options.keep);
  ImageBatches batches(graph);
  std::vector<ImageNode> nodes;
  for (Node* node : order) {
    std::optional<ImageRoles> roles = ImageRolesOf(*node, batches);
    if (!roles) continue;
    ImageNode n{node, *std::move(roles)};
    if (MayBeTurned(n, rewriter, options)) nodes.push_back(std::move(n));
  }
  const std::vector<ImageNode> chosen = ChainsOf(nodes);
  if (chosen.empty()) return 0;
  SLUICE_RETURN_IF_ERROR(Turner(graph, rewriter, options.keep, *frames, chosen).Run());
  return static_cast<int>(chosen.size());
}

}  // namespace sluice
