// The shape function of convolutions.
#ifndef SLUICE_OPS_CONV_CONV_SHAPE_H_
#define SLUICE_OPS_CONV_CONV_SHAPE_H_

#include "graph/infer/shape_context.h"
#include "ops/conv/conv_geometry.h"

namespace sluice {

// Sets the shape of output 0. Input 0 is the tensor of images, and input 1 the filter.
inline absl::Status ConvShape(ShapeContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const WindowAttrs attrs, WindowAttrs::Of(c.node()));
  SLUICE_ASSIGN_OR_RETURN(PartialShape images, c.WithRank(0, attrs.layout.rank()));
  SLUICE_ASSIGN_OR_RETURN(PartialShape filter, c.WithRank(1, attrs.layout.rank()));
  SLUICE_ASSIGN_OR_RETURN(PartialShape out, ConvolvedShape(attrs, images, filter));
  return c.SetOutput(0, out);
}

}  // namespace sluice

#endif  // SLUICE_OPS_CONV_CONV_SHAPE_H_
