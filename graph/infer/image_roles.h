// The roles of a node's inputs and outputs if its images have channels before height and width
// (NCHW). The pass choose_layout uses them to change the node to channels last (NHWC). Ops declare
// them: OpTraits::image_roles.
//
// Error messages may contain image sizes, and a change of the layout must not change a message. So
// a node has roles only if its images cannot make it fail, or if its error does not show their
// sizes. To decide this, all sizes except the batch must be known, and the node must accept them.
#ifndef SLUICE_GRAPH_INFER_IMAGE_ROLES_H_
#define SLUICE_GRAPH_INFER_IMAGE_ROLES_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "graph/ir/graph.h"

namespace sluice {

// The meaning of an input for the dimensions of images.
enum class OperandKind {
  kSizes,     // a number per dimension
  kPaddings,  // a constant: two numbers per dimension
  kAxes,      // a constant: indices of dimensions
};

struct ImageRoles {
  absl::InlinedVector<int, 4> images;  // the inputs that are images
  bool makes_image = true;             // output 0 is an image; other outputs never are
  int operand = -1;                    // the input that `operand_kind` describes; -1: none
  OperandKind operand_kind = OperandKind::kSizes;
  // The kernel transposes images that have channels first, on every call.
  bool transposes_inside = false;
  bool is_convolution = false;
  // Images with different batch sizes are no error, or the error of the node names no shapes.
  bool fits_any_batch = false;
  // Unless the node fails, output 0 has the batch size of all images.
  bool keeps_batch = true;
  bool broadcasts = false;
};

// Whether the shape has four dimensions, none of size 0, of which all but the first are known.
bool IsImage(const PartialShape& shape);
// Whether both are images with equal channels, height and width.
bool HaveOneSize(const PartialShape& a, const PartialShape& b);
bool IsVectorOf(Output output, int64_t size);

// Whether attribute data_format is NCHW.
bool HasChannelsFirst(const Node& node);
// Whether HasChannelsFirst holds, and attribute `strides` and the attributes named `windows` have 4
// elements each, with 1 for batch and channels, and attribute `explicit_paddings`, if there is any,
// is empty or has 8 elements.
bool SlidesChannelsFirst(const Node& node, std::initializer_list<std::string_view> windows);
// Whether an op that slides windows over images of shape `in` returns images with the height and
// width of `out`. `window` is the height and width of the window. Shape functions of gradients do
// not check this.
bool SlidesTo(const Node& node, const PartialShape& in, const std::array<int64_t, 2>& window,
              const PartialShape& out);

// Functions that many ops have as OpTraits::image_roles. ImagesOfOneSize: all inputs are images of
// one size. BroadcastImages: inputs are scalars, or images, which are broadcast.
std::optional<ImageRoles> ImagesOfOneSize(const Node& node);
std::optional<ImageRoles> BroadcastImages(const Node& node);

}  // namespace sluice

#endif  // SLUICE_GRAPH_INFER_IMAGE_ROLES_H_
