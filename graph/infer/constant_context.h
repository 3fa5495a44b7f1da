// Computes sizes, axes and other integers before a step, if they follow from constants and static
// shapes. No kernel runs: each op that supports this declares a function that computes its values,
// OpTraits::constant_value.
//
// Each element of a value is either exact or unknown. A value may have elements of both kinds.
//
//   std::optional<PartialInts> ValueOfFill(ConstantContext& c) {
//     const std::optional<int64_t> n = c.Element(0);
//     ...
//   }
//
// Limits: scalars and vectors of at most kMaxElements int32 or int64 elements. A search ends at a
// depth of 64 nodes and after 8192 visits, because the number of paths may grow exponentially.
#ifndef SLUICE_GRAPH_INFER_CONSTANT_CONTEXT_H_
#define SLUICE_GRAPH_INFER_CONSTANT_CONTEXT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/ir/graph.h"

namespace sluice {

// A scalar or vector of integers, some of them unknown.
struct PartialInts {
  bool is_scalar = false;
  std::vector<std::optional<int64_t>> values;

  static PartialInts Scalar(std::optional<int64_t> value) { return {true, {value}}; }
  // Elements that are all unknown.
  static PartialInts Unknown(int64_t size);
};

class ConstantContext {
 public:
  static constexpr int64_t kMaxElements = 1024;
  // Returns nullopt for an overflow and similar errors.
  using Arithmetic = std::optional<int64_t> (*)(int64_t, int64_t);

  // `depth` is the distance, in nodes, from the output at which the search began. `visits_left`
  // counts the nodes that the search may still visit.
  ConstantContext(Output output, int depth, int* visits_left)
      : output_(output), depth_(depth), visits_left_(visits_left) {}

  // The value of the output, computed by the constant_value of its op. Nothing if it is not known
  // or the search exceeds a limit.
  std::optional<PartialInts> Evaluate();

  // The node of the output. All its inputs are connected.
  const Node& node() const { return *output_.node; }
  int output_index() const { return output_.index; }
  const PartialShape& input_shape(int i) const { return node().input(i).shape(); }

  // The value of input i; nothing if it is not known.
  std::optional<PartialInts> Input(int i) const;
  // The only element of input i. Nothing if it is not known or there are several elements.
  std::optional<int64_t> Element(int i) const;
  // Applies `f` to the elements of inputs 0 and 1, which are broadcast.
  std::optional<PartialInts> Broadcast(Arithmetic f) const;

 private:
  const Output output_;
  const int depth_;
  int* const visits_left_;
};

// The sizes of a tensor of the shape; nothing if the rank is not known.
std::optional<PartialInts> IntsOfShape(const PartialShape& shape);
// The elements of a constant. Nothing if its type or size is not within the limits above.
std::optional<PartialInts> IntsOfTensor(const Tensor& tensor);

// A constant_value function for ops whose output 0 has the elements of input 0.
std::optional<PartialInts> ValueOfInput(ConstantContext& context);

}  // namespace sluice

#endif  // SLUICE_GRAPH_INFER_CONSTANT_CONTEXT_H_
