// Declares attributes that ops with sliding windows share, such as strides and padding. Each
// function is an argument of OpDefBuilder::With, or returns one.
//
//   OP(AvgPool3D, "Computes the mean of each window.")
//       .Input("input", "T").Output("output", "T")
//       .With(PoolWindow(3))
//
// `space` is the number of spatial dimensions, 2 or 3. Attributes that are lists have a value for
// each dimension of the images, with batch and channels.
#ifndef SLUICE_OPS_CONV_WINDOW_ATTRS_H_
#define SLUICE_OPS_CONV_WINDOW_ATTRS_H_

#include <string>
#include <vector>

#include "graph/op/op_def.h"

namespace sluice {

inline void SameOrValid(OpDefBuilder& b) { b.Attr("padding", OneOf({"SAME", "VALID"})); }

inline void AnyPadding(OpDefBuilder& b) {
  b.Attr("padding", OneOf({"SAME", "VALID", "EXPLICIT"}))
      .Attr("explicit_paddings", IntListAttr({}));
}

inline auto DataFormat(int space) {
  return [space](OpDefBuilder& b) {
    b.Attr("data_format",
           space == 2 ? OneOf({"NHWC", "NCHW"}, "NHWC") : OneOf({"NDHWC", "NCDHW"}, "NDHWC"));
  };
}

inline auto Dilations(int space) {
  return [space](OpDefBuilder& b) {
    b.Attr("dilations", IntListAttr(std::vector<int64_t>(static_cast<size_t>(space + 2), 1)));
  };
}

// Declares strides, at least one per dimension, and a padding, SAME or VALID.
inline auto StridesAndPadding(int space) {
  return [space](OpDefBuilder& b) {
    b.Attr("strides", IntListAttr().Min(space + 2)).With(SameOrValid);
  };
}

inline auto SizesAndStrides(int space) {
  return [space](OpDefBuilder& b) {
    b.Attr("ksize", IntListAttr().Min(space + 2)).Attr("strides", IntListAttr().Min(space + 2));
  };
}

inline auto PoolWindow(int space) {
  return [space](OpDefBuilder& b) {
    b.With(SizesAndStrides(space)).With(SameOrValid).With(DataFormat(space));
  };
}

}  // namespace sluice

#endif  // SLUICE_OPS_CONV_WINDOW_ATTRS_H_
