// Types and output shapes for the declarations of ops that parse Examples.
#ifndef SLUICE_OPS_IO_FEATURE_SHAPES_H_
#define SLUICE_OPS_IO_FEATURE_SHAPES_H_

#include <cstdint>

#include "graph/infer/shape_context.h"
#include "graph/op/mixins.h"
#include "graph/tensor/dtype.h"

namespace sluice {

// The types of the values of features.
inline constexpr TypeSet kFeatureTypes{DT_FLOAT, DT_INT64, DT_STRING};

// Sets the shapes of the outputs one after the other.
class OutputShapes {
 public:
  explicit OutputShapes(ShapeContext& c) : c_(&c) {}
  void Add(int64_t count, const PartialShape& shape) {
    for (int64_t i = 0; i < count; ++i) c_->SetOutput(next_++, shape).IgnoreError();
  }
  // Sets the shapes of 3 * `count` outputs: the indices, values and shapes of sparse tensors.
  void AddSparse(int64_t count, int64_t rank) {
    Add(count, PartialShape::Matrix(-1, rank));
    Add(count, PartialShape::Vector());
    Add(count, PartialShape::Vector(rank));
  }

 private:
  ShapeContext* c_;
  int next_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_OPS_IO_FEATURE_SHAPES_H_
