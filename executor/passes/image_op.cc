#include "executor/passes/image_op.h"

#include <algorithm>
#include <string>
#include <vector>

#include "graph/ir/purity.h"

namespace sluice {
namespace {

// The roles that the op declares, and those of all elementwise ops.
std::optional<ImageRoles> DeclaredRoles(const Node& node) {
  const OpTraits& traits = node.traits();
  if (traits.image_roles != nullptr) return traits.image_roles(node);
  if (traits.elementwise == ElementwiseInputs::kNone) return std::nullopt;
  if (!IsImage(node.output_shape(0)) || !IsPure(node)) return std::nullopt;
  return traits.elementwise == ElementwiseInputs::kBroadcast ? BroadcastImages(node)
                                                             : ImagesOfOneSize(node);
}

// The tensors that must have one batch size, except those that are repeated.
absl::InlinedVector<Output, 4> BatchesOf(const Node& node, const ImageRoles& roles) {
  absl::InlinedVector<Output, 4> batches;
  for (int i : roles.images) {
    if (!roles.broadcasts || node.input(i).shape().dim(0) != 1) batches.push_back(node.input(i));
  }
  if (roles.operand < 0 || roles.operand_kind != OperandKind::kSizes) return batches;
  if (const Output like = TensorWithShape(node.input(roles.operand))) {
    batches.push_back(like);
  } else if (!roles.fits_any_batch) {
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

void ReorderAttr(Node* node, const char* attr, int numbers_per_dim) {
  const auto* of = node->FindAttr<std::vector<int64_t>>(attr);
  if (of != nullptr && !of->empty()) node->SetAttr(attr, InOrder(*of, numbers_per_dim));
}

}  // namespace

std::optional<ImageRoles> ImageRolesOf(const Node& node, ImageBatches& batches) {
  std::optional<ImageRoles> roles = DeclaredRoles(node);
  if (!roles || roles->images.empty()) {
    batches.RecordFromSizes(node);
    return std::nullopt;
  }
  const absl::InlinedVector<Output, 4> own = BatchesOf(node, *roles);
  const bool fits = roles->fits_any_batch || std::all_of(own.begin(), own.end(), [&](Output t) {
                      return batches.HaveSame(t, own[0]);
                    });
  if (roles->keeps_batch && (fits || !roles->broadcasts)) batches.Record(node, own);
  return fits ? roles : std::nullopt;
}

void PutChannelsLast(Node* node, const ImageRoles& roles) {
  if (node->FindAttr<std::string>("data_format") != nullptr) {
    node->SetAttr("data_format", std::string("NHWC"));
    for (const char* attr : {"strides", "ksize", "dilations"}) ReorderAttr(node, attr, 1);
    ReorderAttr(node, "explicit_paddings", 2);
  }
  if (roles.makes_image) node->set_output_shape(0, InOrder(node->output_shape(0), kChannelsLast));
}

PartialShape InOrder(const PartialShape& shape, const ImageOrder& order) {
  PartialShape turned = PartialShape::UnknownOfRank(4);
  for (int i = 0; i < 4; ++i) turned.set_dim(i, shape.dim(order[i]));
  return turned;
}

}  // namespace sluice
