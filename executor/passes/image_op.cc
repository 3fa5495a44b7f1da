#include "executor/passes/image_op.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

#include "executor/device/resource_manager.h"
#include "executor/kernel/elementwise_loops.h"
#include "executor/passes/purity.h"
#include "executor/passes/rewrite.h"
#include "executor/plan/op_kind.h"
#include "graph/ir/constant.h"

namespace sluice {
namespace {

// Roles before it is asked whether batches fit.
struct Candidate {
  ImageOp op;
  bool fits_any_batch = false;  // batches that differ are no error, or one that names no shapes
  bool keeps_batch = true;      // where it does not fail, output 0 has the batch of all images
  bool broadcasts = false;
};
using Roles = std::optional<Candidate> (*)(const Node& node);

bool IsImage(const PartialShape& s) {
  return s.rank() == 4 && s.dim(0) != 0 && s.dim(1) > 0 && s.dim(2) > 0 && s.dim(3) > 0;
}
bool IsImageOfOutput(const Node& node) { return IsImage(node.output_shape(0)); }

bool HaveOneSize(const PartialShape& a, const PartialShape& b) {
  return IsImage(a) && IsImage(b) && a.dims().subspan(1) == b.dims().subspan(1);
}

// A window of 1 and steps of 1 over batch and channels, for channels that come first.
bool IsSpatial(const std::vector<int64_t>* sizes) {
  return sizes != nullptr && sizes->size() == 4 && (*sizes)[0] == 1 && (*sizes)[1] == 1 &&
         (*sizes)[2] >= 1 && (*sizes)[3] >= 1;
}
bool HasSpatial(const Node& node, std::string_view attr) {
  return IsSpatial(node.FindAttr<std::vector<int64_t>>(attr));
}

bool HasPaddings(const Node& node) {
  const auto* paddings = node.FindAttr<std::vector<int64_t>>("explicit_paddings");
  return paddings == nullptr || paddings->empty() || paddings->size() == 8;
}

// Whether windows over `in` give `out`, which shape functions of gradients leave to the step.
bool SlidesTo(const Node& node, const PartialShape& in, const std::array<int64_t, 2>& window,
              const PartialShape& out) {
  const auto& strides = *node.FindAttr<std::vector<int64_t>>("strides");
  const auto* dilations = node.FindAttr<std::vector<int64_t>>("dilations");
  const auto* explicit_paddings = node.FindAttr<std::vector<int64_t>>("explicit_paddings");
  const std::string padding = node.AttrOr<std::string>("padding", "");
  for (int d = 2; d < 4; ++d) {
    const int64_t stride = strides[d];
    int64_t outputs = (in.dim(d) + stride - 1) / stride;
    if (padding != "SAME") {
      const int64_t dilation = dilations == nullptr ? 1 : (*dilations)[d];
      int64_t room = in.dim(d) - (window[d - 2] - 1) * dilation - 1;
      if (padding == "EXPLICIT") {
        if (explicit_paddings == nullptr || explicit_paddings->size() != 8) return false;
        room += (*explicit_paddings)[2 * d] + (*explicit_paddings)[2 * d + 1];
      }
      if (room < 0) return false;
      outputs = room / stride + 1;
    }
    if (outputs != out.dim(d)) return false;
  }
  return true;
}

bool IsFilter(const PartialShape& s) {
  return s.rank() == 4 && s.IsFullyDefined() && s.num_elements() > 0;
}
bool IsVectorOf(Output v, int64_t n) { return v.shape() == PartialShape::Vector(n); }

bool HasChannelsFirst(const Node& node) {
  const auto* format = node.FindAttr<std::string>("data_format");
  return format != nullptr && *format == "NCHW";
}

bool SlidesChannelsFirst(const Node& node) {
  return HasChannelsFirst(node) && HasSpatial(node, "strides") && HasPaddings(node);
}
bool IsConvolution(const Node& node) {
  return SlidesChannelsFirst(node) && HasSpatial(node, "dilations");
}

Candidate Convolution(std::initializer_list<int> images) {
  return {.op = {.images = images, .turns_inside = true, .is_convolution = true},
          .fits_any_batch = true};
}

std::optional<Candidate> Forward(const Node& node) {
  const bool known = IsConvolution(node) && IsImage(node.input(0).shape()) &&
                     IsFilter(node.input(1).shape()) && IsImageOfOutput(node);
  return known ? std::make_optional(Convolution({0})) : std::nullopt;
}

std::optional<Candidate> ByInput(const Node& node) {
  const PartialShape &filter = node.input(1).shape(), &grad = node.input(2).shape();
  const PartialShape& out = node.output_shape(0);
  if (!IsConvolution(node) || !IsImage(grad) || !IsFilter(filter) || !IsImage(out) ||
      !SlidesTo(node, out, {filter.dim(0), filter.dim(1)}, grad)) {
    return std::nullopt;
  }
  Candidate c = Convolution({2});
  // Of two sizes, height and width, the order stays.
  if (IsVectorOf(node.input(0), 4)) {
    c.op.operand = 0;
  } else if (!IsVectorOf(node.input(0), 2)) {
    return std::nullopt;
  }
  c.fits_any_batch = node.op() == "Conv2DBackpropInput";
  return c;
}

std::optional<Candidate> ByFilter(const Node& node) {
  const PartialShape &in = node.input(0).shape(), &grad = node.input(2).shape();
  const PartialShape& filter = node.output_shape(0);
  if (!IsConvolution(node) || !IsImage(in) || !IsImage(grad) || !IsFilter(filter) ||
      !SlidesTo(node, in, {filter.dim(0), filter.dim(1)}, grad)) {
    return std::nullopt;
  }
  Candidate c = Convolution({0, 2});
  c.op.makes_image = false;
  c.fits_any_batch = node.op() == "Conv2DBackpropFilter";
  return c;
}

std::optional<Candidate> Bias(const Node& node) {
  const PartialShape& x = node.input(0).shape();
  if (!HasChannelsFirst(node) || !IsImage(x) || !IsVectorOf(node.input(1), x.dim(1))) {
    return std::nullopt;
  }
  return Candidate{.op = {.images = {0}}};
}

std::optional<Candidate> BiasGrad(const Node& node) {
  if (!HasChannelsFirst(node) || !IsImage(node.input(0).shape())) return std::nullopt;
  return Candidate{.op = {.images = {0}, .makes_image = false}};
}

bool IsPool(const Node& node) { return SlidesChannelsFirst(node) && HasSpatial(node, "ksize"); }

bool Pools(const Node& node, const PartialShape& in, const PartialShape& out) {
  const auto& ksize = *node.FindAttr<std::vector<int64_t>>("ksize");
  return IsImage(in) && IsImage(out) && in.dim(1) == out.dim(1) &&
         SlidesTo(node, in, {ksize[2], ksize[3]}, out);
}

std::optional<Candidate> Pool(const Node& node) {
  if (!IsPool(node) || !Pools(node, node.input(0).shape(), node.output_shape(0))) {
    return std::nullopt;
  }
  return Candidate{.op = {.images = {0}, .turns_inside = true}};
}

std::optional<Candidate> MaxPoolGrad(const Node& node) {
  const PartialShape &in = node.input(0).shape(), &out = node.input(1).shape();
  const bool is_second = node.op() == "MaxPoolGradGrad";
  if (!IsPool(node) || !Pools(node, in, out) ||
      !HaveOneSize(node.input(2).shape(), is_second ? in : out)) {
    return std::nullopt;
  }
  return Candidate{.op = {.images = {0, 1, 2}, .turns_inside = true}};
}

std::optional<Candidate> AvgPoolGrad(const Node& node) {
  if (!IsPool(node) || !IsVectorOf(node.input(0), 4) ||
      !Pools(node, node.output_shape(0), node.input(1).shape())) {
    return std::nullopt;
  }
  return Candidate{.op = {.images = {1}, .operand = 0, .turns_inside = true}};
}

std::optional<Candidate> Norm(const Node& node) {
  if (!HasChannelsFirst(node) || !IsImage(node.input(0).shape())) return std::nullopt;
  return Candidate{.op = {.images = {0}, .turns_inside = true}};
}

std::optional<Candidate> NormGrad(const Node& node) {
  if (!HasChannelsFirst(node) || !HaveOneSize(node.input(0).shape(), node.input(1).shape())) {
    return std::nullopt;
  }
  return Candidate{.op = {.images = {0, 1}, .turns_inside = true}};
}

std::optional<Candidate> OfOneSize(const Node& node) {
  Candidate c;
  for (int i = 0; i < node.num_inputs(); ++i) {
    if (!HaveOneSize(node.input(i).shape(), node.input(0).shape())) return std::nullopt;
    c.op.images.push_back(i);
  }
  return c;
}

// Images of sizes that fit, and scalars.
std::optional<Candidate> Broadcasting(const Node& node) {
  Candidate c{.broadcasts = true};
  if (!IsImageOfOutput(node)) return std::nullopt;
  for (int i = 0; i < node.num_inputs(); ++i) {
    const PartialShape& s = node.input(i).shape();
    if (s.rank() == 0) continue;
    if (!IsImage(s)) return std::nullopt;
    c.op.images.push_back(i);
  }
  return c;
}

// Channels last, the dimensions that are left still come in their order.
std::optional<Candidate> Reduction(const Node& node) {
  const std::optional<std::vector<int64_t>> axes = ConstantInts(node.input(1));
  const bool* keeps = node.FindAttr<bool>("keep_dims");
  if (!axes || keeps == nullptr || !IsImage(node.input(0).shape())) return std::nullopt;
  std::array<bool, 4> reduced = {};
  for (int64_t axis : *axes) {
    if (axis < -4 || axis >= 4 || reduced[(axis + 4) % 4]) return std::nullopt;
    reduced[(axis + 4) % 4] = true;
  }
  if (!*keeps && !reduced[1] && !(reduced[2] && reduced[3])) return std::nullopt;
  return Candidate{.op = {.images = {0},
                          .makes_image = *keeps,
                          .operand = 1,
                          .operand_kind = OperandKind::kAxes},
                   .fits_any_batch = true,
                   .keeps_batch = false};
}

std::optional<Candidate> Padded(const Node& node) {
  const Tensor* paddings = ConstantBehind(node.input(1));
  if (paddings == nullptr || paddings->shape() != TensorShape{4, 2}) return std::nullopt;
  if (!IsImage(node.input(0).shape()) || !IsImageOfOutput(node)) return std::nullopt;
  return Candidate{.op = {.images = {0}, .operand = 1, .operand_kind = OperandKind::kPaddings},
                   .fits_any_batch = true,
                   .keeps_batch = node.input(0).shape().dim(0) == node.output_shape(0).dim(0)};
}

std::optional<Candidate> Repeated(const Node& node) {
  if (!IsImage(node.input(0).shape()) || !IsImageOfOutput(node) || !IsVectorOf(node.input(1), 4)) {
    return std::nullopt;
  }
  const bool tiles = node.op() == "Tile";
  return Candidate{.op = {.images = {0}, .operand = 1},
                   .fits_any_batch = tiles,
                   .keeps_batch = !tiles,
                   .broadcasts = !tiles};
}

std::optional<Candidate> Joined(const Node& node) {
  const int operand = node.num_inputs() - 1;
  const std::optional<std::vector<int64_t>> axis = ConstantInts(node.input(operand));
  if (!axis || axis->size() != 1 || !IsImageOfOutput(node)) return std::nullopt;
  const int64_t along = (*axis)[0] < 0 ? (*axis)[0] + 4 : (*axis)[0];
  if (along < 1 || along > 3) return std::nullopt;
  Candidate c{.op = {.operand = operand, .operand_kind = OperandKind::kAxes}};
  for (int i = 0; i < operand; ++i) {
    const PartialShape &s = node.input(i).shape(), &out = node.output_shape(0);
    if (!IsImage(s)) return std::nullopt;
    for (int d = 1; d < 4; ++d) {
      if (d != along && s.dim(d) != out.dim(d)) return std::nullopt;
    }
    c.op.images.push_back(i);
  }
  return c;
}

Roles RolesOf(std::string_view op) {
  static const auto* roles = new std::unordered_map<std::string_view, Roles>{
      {"AccumulateNV2", OfOneSize},
      {"AddN", OfOneSize},
      {"AvgPool", Pool},
      {"AvgPoolGrad", AvgPoolGrad},
      {"BiasAdd", Bias},
      {"BiasAddGrad", BiasGrad},
      {"BroadcastTo", Repeated},
      {"Cast", OfOneSize},
      {"ConcatV2", Joined},
      {"Conv2D", Forward},
      {"Conv2DBackpropFilter", ByFilter},
      {"Conv2DBackpropInput", ByInput},
      {"DepthwiseConv2dNative", Forward},
      {"DepthwiseConv2dNativeBackpropFilter", ByFilter},
      {"DepthwiseConv2dNativeBackpropInput", ByInput},
      {"FusedBatchNorm", Norm},
      {"FusedBatchNormGrad", NormGrad},
      {"FusedBatchNormGradV2", NormGrad},
      {"FusedBatchNormGradV3", NormGrad},
      {"FusedBatchNormV2", Norm},
      {"FusedBatchNormV3", Norm},
      {"Identity", OfOneSize},
      {"LeakyRelu", OfOneSize},
      {"LeakyReluGrad", OfOneSize},
      {"Max", Reduction},
      {"MaxPool", Pool},
      {"MaxPoolGrad", MaxPoolGrad},
      {"MaxPoolGradGrad", MaxPoolGrad},
      {"Mean", Reduction},
      {"Min", Reduction},
      {"MirrorPad", Padded},
      {"OnesLike", OfOneSize},
      {"Pad", Padded},
      {"PadV2", Padded},
      {"Select", OfOneSize},
      {"SelectV2", Broadcasting},
      {"StopGradient", OfOneSize},
      {"Sum", Reduction},
      {"Tile", Repeated},
      {"ZerosLike", OfOneSize},
  };
  const auto it = roles->find(op);
  return it == roles->end() ? nullptr : it->second;
}

// Of all other ops the elementwise ones, which their kernels tell.
std::optional<Candidate> Elementwise(const Node& node) {
  const bool has_operands = node.num_inputs() == 1 || node.num_inputs() == 2;
  if (!has_operands || node.num_outputs() != 1 || !IsImageOfOutput(node)) return std::nullopt;
  if (OpKindOf(node) != OpKind::kKernel || !IsPure(node)) return std::nullopt;
  ResourceManager resources;
  KernelInit init(node, "/device:CPU:0", &resources);
  const absl::StatusOr<std::unique_ptr<Kernel>> kernel = KernelRegistry::Global().Make(init, "CPU");
  if (!kernel.ok()) return std::nullopt;
  const auto* loops = dynamic_cast<const ElementwiseLoopKernel*>(kernel->get());
  if (loops == nullptr) return std::nullopt;
  return loops->loops().x_alone == nullptr ? OfOneSize(node) : Broadcasting(node);
}

// The tensors whose batches are to be one, but for those that are repeated.
absl::InlinedVector<Output, 4> BatchesOf(const Node& node, const Candidate& c) {
  absl::InlinedVector<Output, 4> batches;
  for (int i : c.op.images) {
    if (!c.broadcasts || node.input(i).shape().dim(0) != 1) batches.push_back(node.input(i));
  }
  if (c.op.operand < 0 || c.op.operand_kind != OperandKind::kSizes) return batches;
  if (const Output like = ShapedLike(node.input(c.op.operand))) {
    batches.push_back(like);
  } else if (!c.fits_any_batch) {
    batches.push_back(Output(node.graph()->node(node.id())));
  }
  return batches;
}

std::vector<int64_t> InOrder(const std::vector<int64_t>& of, int numbers_per_dim) {
  std::vector<int64_t> turned;
  for (int d : kChannelsLast) {
    const auto first = of.begin() + d * numbers_per_dim;
    turned.insert(turned.end(), first, first + numbers_per_dim);
  }
  return turned;
}

void TurnAttr(Node* node, const char* attr, int numbers_per_dim) {
  const auto* of = node->FindAttr<std::vector<int64_t>>(attr);
  if (of != nullptr && !of->empty()) node->SetAttr(attr, InOrder(*of, numbers_per_dim));
}

}  // namespace

std::optional<ImageOp> ImageOpOf(const Node& node, ImageBatches& batches) {
  const Roles roles = RolesOf(node.op());
  const std::optional<Candidate> c = roles == nullptr ? Elementwise(node) : roles(node);
  if (!c || c->op.images.empty()) {
    batches.SayBySizes(node);
    return std::nullopt;
  }
  const absl::InlinedVector<Output, 4> own = BatchesOf(node, *c);
  const bool fits = c->fits_any_batch || std::all_of(own.begin(), own.end(), [&](Output t) {
                      return batches.Same(t, own[0]);
                    });
  if (c->keeps_batch && (fits || !c->broadcasts)) batches.Say(node, own);
  return fits ? std::make_optional(c->op) : std::nullopt;
}

void PutChannelsLast(Node* node, const ImageOp& op) {
  if (node->FindAttr<std::string>("data_format") != nullptr) {
    node->SetAttr("data_format", std::string("NHWC"));
    for (const char* attr : {"strides", "ksize", "dilations"}) TurnAttr(node, attr, 1);
    TurnAttr(node, "explicit_paddings", 2);
  }
  if (op.makes_image) node->set_output_shape(0, InOrder(node->output_shape(0), kChannelsLast));
}

PartialShape InOrder(const PartialShape& shape, const ImageOrder& order) {
  PartialShape turned = PartialShape::UnknownOfRank(4);
  for (int i = 0; i < 4; ++i) turned.set_dim(i, shape.dim(order[i]));
  return turned;
}

}  // namespace sluice
