// The argument of a shape function: inputs and attributes of a node, and the results.
//
//   .Shape([](ShapeContext& c) {
//     SLUICE_ASSIGN_OR_RETURN(PartialShape a, c.WithRank(0, 2));
//     ...
//     return c.SetOutput(0, {a.dim(0), b.dim(1)});
//   })
//
// Inputs may have unknown sizes or unknown rank. A result may be unknown too, but never wrong.
// NodeBuilder adds the node's name and the user's line to an error that the function returns.
//
// Thread safety: that of the graph, which one thread at a time builds.
// Lifetime: a context is valid during one call of a shape function, and so are the references that
// it returns.
// Errors: INVALID_ARGUMENT, in the words of TensorFlow's shape functions.
// Reference: tensorflow::shape_inference::InferenceContext.
#ifndef SLUICE_GRAPH_INFER_SHAPE_CONTEXT_H_
#define SLUICE_GRAPH_INFER_SHAPE_CONTEXT_H_

#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/ir/graph.h"
#include "graph/status.h"

namespace sluice {

// Reads the inputs of one node, and sets the shapes of its outputs.
class ShapeContext {
 public:
  // The inputs of `node` are connected, except in a loop under construction.
  explicit ShapeContext(Node* node);

  int num_inputs() const { return node_->num_inputs(); }
  int num_outputs() const { return node_->num_outputs(); }

  // The shape of input i. Of unknown rank if the input is not connected yet, as in loops under
  // construction.
  const PartialShape& input(int i) const;
  DataType input_type(int i) const { return BaseType(node_->input_type(i)); }
  DataType output_type(int i) const { return BaseType(node_->output_type(i)); }
  // Returns {first, end}: the list argument `arg` has inputs [first, end). {0, 0} if the op has no
  // such argument.
  std::pair<int, int> InputRange(std::string_view arg) const;
  const Node& node() const { return *node_; }

  // The value of an attribute, with defaults filled in. The op's declaration guarantees that it is
  // there and has the declared kind; T must be the C++ type of that kind (graph/op/attr.h).
  template <typename T>
  const T& attr(std::string_view name) const {
    return std::get<T>(node_->attrs().find(name)->second);
  }
  bool has_attr(std::string_view name) const { return node_->attrs().contains(name); }

  // The value of an input if it follows from constants and static shapes (ConstantValue below).
  std::optional<Tensor> InputValue(int i) const;
  // The elements of input i, integers of 8 to 64 bits, with -1 for elements that are unknown and
  // for elements that are -1. Nothing if the number of elements is unknown.
  std::optional<std::vector<int64_t>> InputInts(int i) const;
  // The shape that input i, a shape tensor, denotes, as far as it is known. INVALID_ARGUMENT for a
  // size below -1, or if input i is neither a vector nor a scalar.
  absl::StatusOr<PartialShape> InputAsShape(int i) const;
  // Input i, an integer scalar, as a size. Unknown if the value does not follow from constants.
  // INVALID_ARGUMENT "Dimension size, given by scalar input 1, must be non-negative but is -1".
  absl::StatusOr<int64_t> InputAsSize(int i) const;

  // Sets the shape of output i, or of all outputs. Always OK, so that a shape function can return
  // it. Sizes below -1 count as unknown.
  absl::Status SetOutput(int i, PartialShape shape);
  absl::Status SetOutputs(const PartialShape& shape);
  // Sets the type and shape of the resource to which output i, a handle, refers.
  void SetOutputHandle(int i, HandleData data) { node_->set_output_handle(i, std::move(data)); }
  // Null if input i is no handle, or if nothing is known of what it refers to.
  const HandleData* InputHandle(int i) const;

  // Returns the input's shape if its rank can be as required. WithRank replaces an unknown rank by
  // the given one; the other two leave it unknown. INVALID_ARGUMENT "Shape must be rank 2 but is
  // rank 3" if the rank does not fit.
  absl::StatusOr<PartialShape> WithRank(int i, int rank) const;
  absl::StatusOr<PartialShape> WithRankAtLeast(int i, int rank) const;
  absl::StatusOr<PartialShape> WithRankAtMost(int i, int rank) const;

 private:
  Node* node_;
};

// Runs the op's shape function and stores the results in `node`, merged with those of earlier runs.
// After an error, which has TensorFlow's text, the shapes of the outputs are unknown. NodeBuilder
// and ImportGraphDef call it for each node; call it again after a change of inputs.
absl::Status InferShapes(Node* node);

// Returns `s` if it has this rank, or a shape of this rank with unknown sizes if the rank of `s` is
// unknown. INVALID_ARGUMENT otherwise.
absl::StatusOr<PartialShape> WithRank(const PartialShape& s, int rank);
// Returns the size that `a` and `b` agree on. -1 is unknown and agrees with every size.
// INVALID_ARGUMENT "Dimensions must be equal, but are 2 and 3" otherwise.
absl::StatusOr<int64_t> MergeDim(int64_t a, int64_t b);
// The broadcast of both shapes by NumPy's rule. INVALID_ARGUMENT "Dimensions must be equal, but are
// 2 and 3" if two sizes differ and neither is 1.
absl::StatusOr<PartialShape> BroadcastShapes(const PartialShape& a, const PartialShape& b);
// Turns an axis in [-rank, rank) into one in [0, rank). INVALID_ARGUMENT if it is outside. If the
// rank is unknown (rank < 0), a negative axis becomes -1 and any other stays as it is.
absl::StatusOr<int> CanonicalAxis(int64_t axis, int rank);

// Shape functions of common cases: `.Shape(SameAsInput(0))`.

// Output 0 has the shape of input i. If input i is a handle, it also has the type and shape of the
// resource.
ShapeFunction SameAsInput(int i);
// Output 0 has the shape that input i, a shape tensor, denotes.
ShapeFunction ShapeFromInput(int i);
// All outputs are scalars.
ShapeFunction ScalarOutput();
// The shapes of all outputs are unknown. For ops whose shapes depend only on values.
ShapeFunction UnknownOutputs();
// For ops without outputs, which run for their effects.
ShapeFunction NoOutputs();
// Output 0 is the broadcast of inputs 0 and 1.
ShapeFunction BroadcastBinary();
// All inputs have the same shape, which is that of output 0.
ShapeFunction AllSameShape();

// The value of `output` if it follows from constants and static shapes, without running a kernel:
// Const, Shape/Size/Rank of known shapes, and the arithmetic that shape code is made of (Pack,
// ConcatV2, StridedSlice, Slice, Range, InvertPermutation, Cast, Add, Sub, Mul, Prod, Reshape,
// Fill, Identity, …).
std::optional<Tensor> ConstantValue(Output output);
// The shape that the integer vector `output` denotes, with -1 where an element is not known.
std::optional<PartialShape> ConstantValueAsShape(Output output);

}  // namespace sluice

#endif  // SLUICE_GRAPH_INFER_SHAPE_CONTEXT_H_
