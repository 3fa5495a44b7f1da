// Functions that add reductions over axes given as numbers: `ReduceMean(x)`, `ReduceSum(x, 0)`,
// `ReduceMax(x, {0, 2}, {.keep_dims = true})`. The generated builder functions Sum, Mean and so on
// take the axes as a tensor.
//
// Reference: TensorFlow's tf.reduce_sum and similar functions. The nodes and their names are the
// same.
#ifndef SLUICE_OPS_REDUCE_REDUCE_AXES_H_
#define SLUICE_OPS_REDUCE_REDUCE_AXES_H_

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/ir/graph.h"

namespace sluice {

// The axes of a reduction: all, one, or several. One `int` becomes a scalar constant in the graph,
// and a list becomes a vector. Negative axes count from the last: -1 is the last axis.
class Axes {
 public:
  Axes() = default;                                                                 // all axes
  Axes(int axis) : axes_(std::vector<int64_t>{axis}), is_scalar_(true) {}           // NOLINT
  Axes(std::initializer_list<int64_t> axes) : axes_(std::vector<int64_t>(axes)) {}  // NOLINT
  Axes(std::vector<int64_t> axes) : axes_(std::move(axes)) {}                       // NOLINT

  bool all() const { return !axes_.has_value(); }
  bool is_scalar() const { return is_scalar_; }
  const std::vector<int64_t>& list() const { return *axes_; }

 private:
  std::optional<std::vector<int64_t>> axes_;
  bool is_scalar_ = false;
};

struct ReduceOptions {
  bool keep_dims = false;
  std::string_view name = "";
};

Output ReduceSum(Output x, const Axes& axes = {}, const ReduceOptions& options = {},
                 At at = At::current());
Output ReduceMean(Output x, const Axes& axes = {}, const ReduceOptions& options = {},
                  At at = At::current());
Output ReduceProd(Output x, const Axes& axes = {}, const ReduceOptions& options = {},
                  At at = At::current());
Output ReduceMax(Output x, const Axes& axes = {}, const ReduceOptions& options = {},
                 At at = At::current());
Output ReduceMin(Output x, const Axes& axes = {}, const ReduceOptions& options = {},
                 At at = At::current());
Output ReduceAll(Output x, const Axes& axes = {}, const ReduceOptions& options = {},
                 At at = At::current());
Output ReduceAny(Output x, const Axes& axes = {}, const ReduceOptions& options = {},
                 At at = At::current());

}  // namespace sluice

#endif  // SLUICE_OPS_REDUCE_REDUCE_AXES_H_
