#include "graph/infer/image_roles.h"

#include <algorithm>
#include <string>
#include <vector>

namespace sluice {
namespace {

bool IsSpatial(const std::vector<int64_t>* sizes) {
  return sizes != nullptr && sizes->size() == 4 && (*sizes)[0] == 1 && (*sizes)[1] == 1 &&
         (*sizes)[2] >= 1 && (*sizes)[3] >= 1;
}

}  // namespace

bool IsImage(const PartialShape& s) {
  return s.rank() == 4 && s.dim(0) != 0 && s.dim(1) > 0 && s.dim(2) > 0 && s.dim(3) > 0;
}

bool HaveOneSize(const PartialShape& a, const PartialShape& b) {
  return IsImage(a) && IsImage(b) && a.dims().subspan(1) == b.dims().subspan(1);
}

bool IsVectorOf(Output output, int64_t size) {
  return output.shape() == PartialShape::Vector(size);
}

bool HasChannelsFirst(const Node& node) {
  const auto* format = node.FindAttr<std::string>("data_format");
  return format != nullptr && *format == "NCHW";
}

bool SlidesChannelsFirst(const Node& node, std::initializer_list<std::string_view> windows) {
  const auto is_spatial = [&](std::string_view attr) {
    return IsSpatial(node.FindAttr<std::vector<int64_t>>(attr));
  };
  const auto* paddings = node.FindAttr<std::vector<int64_t>>("explicit_paddings");
  const bool paddings_fit = paddings == nullptr || paddings->empty() || paddings->size() == 8;
  return HasChannelsFirst(node) && paddings_fit && is_spatial("strides") &&
         std::all_of(windows.begin(), windows.end(), is_spatial);
}

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

std::optional<ImageRoles> ImagesOfOneSize(const Node& node) {
  ImageRoles roles;
  for (int i = 0; i < node.num_inputs(); ++i) {
    if (!HaveOneSize(node.input(i).shape(), node.input(0).shape())) return std::nullopt;
    roles.images.push_back(i);
  }
  return roles;
}

std::optional<ImageRoles> BroadcastImages(const Node& node) {
  ImageRoles roles{.broadcasts = true};
  if (!IsImage(node.output_shape(0))) return std::nullopt;
  for (int i = 0; i < node.num_inputs(); ++i) {
    const PartialShape& s = node.input(i).shape();
    if (s.rank() == 0) continue;
    if (!IsImage(s)) return std::nullopt;
    roles.images.push_back(i);
  }
  return roles;
}

}  // namespace sluice
