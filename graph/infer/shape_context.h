// A ShapeContext is the argument of a shape function, which infers the shapes of a node's outputs.
// The function reads the node's inputs and attributes from it, and stores the shapes in it.
//
//   .Shape([](ShapeContext& c) {
//     SLUICE_ASSIGN_OR_RETURN(PartialShape a, c.WithRank(0, 2));
//     ...
//     return c.SetOutput(0, {a.dim(0), b.dim(1)});
//   })
//
// Inputs may have unknown sizes or unknown rank. A result may be unknown too, but never wrong. If
// the function returns an error, NodeBuilder adds the node's name and the line of the user's
// program that added the node.
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
  // The inputs of `node` are connected, except the back edge of a loop under construction.
  explicit ShapeContext(Node* node);

  int num_inputs() const { return node_->num_inputs(); }
  int num_outputs() const { return node_->num_outputs(); }

  // Returns the shape of input i. Its rank is unknown if the input is not connected yet, as the
  // back edge of a loop under construction.
  const PartialShape& input(int i) const;
  DataType input_type(int i) const { return BaseType(node_->input_type(i)); }
  DataType output_type(int i) const { return BaseType(node_->output_type(i)); }
  // Returns {first, end}: the list argument `arg` has inputs [first, end). {0, 0} if the op has no
  // such argument.
  std::pair<int, int> InputRange(std::string_view arg) const;
  const Node& node() const { return *node_; }

  // Returns the value of an attribute that the op declares, or its default if the node does not set
  // it. T must be the C++ type of the declared kind of attribute (graph/op/attr.h).
  template <typename T>
  const T& attr(std::string_view name) const {
    return std::get<T>(node_->attrs().find(name)->second);
  }
  bool has_attr(std::string_view name) const { return node_->attrs().contains(name); }

  // Returns the value of input i if it follows from constants and static shapes (ConstantValue
  // below), and otherwise nullopt.
  std::optional<Tensor> InputValue(int i) const;
  // Returns the elements of input i, signed integers, as far as they follow from constants and
  // static shapes. An element is -1 if it is unknown or if its value is -1. Returns nullopt if
  // nothing follows, if a scalar is unknown, or if the input has another type.
  std::optional<std::vector<int64_t>> InputInts(int i) const;
  // Returns the shape whose sizes are the elements of input i, as far as they are known. A scalar
  // -1 stands for an unknown rank. INVALID_ARGUMENT for a size below -1 in an input that is
  // completely known, or if input i is neither a vector nor a scalar.
  absl::StatusOr<PartialShape> InputAsShape(int i) const;
  // Returns the value of input i, an integer scalar that is the size of a dimension, or
  // PartialShape::kUnknown if it does not follow from constants and static shapes. INVALID_ARGUMENT
  // if the input is no scalar, or is negative: "Dimension size, given by scalar input 1, must be
  // non-negative but is -1".
  absl::StatusOr<int64_t> InputAsSize(int i) const;

  // Sets the shape of output i, or of all outputs. Always returns OK, so that a shape function can
  // end with `return c.SetOutput(...)`. Negative sizes count as unknown.
  absl::Status SetOutput(int i, PartialShape shape);
  absl::Status SetOutputs(const PartialShape& shape);
  // Sets the type and shape of the resource to which output i, a handle, refers.
  void SetOutputHandle(int i, HandleData data) { node_->set_output_handle(i, std::move(data)); }
  // Returns the type and shape of the resource to which input i, a handle, refers. Null if input i
  // is no handle, or if nothing is known of the resource.
  const HandleData* InputHandle(int i) const;

  // Returns the shape of input i if its rank is `rank`, or for the other two methods at least
  // `rank` or at most `rank`. INVALID_ARGUMENT "Shape must be rank 2 but is rank 3" if it is not.
  // If the rank is unknown, WithRank returns a shape of rank `rank` with unknown sizes, and the
  // other two return a shape of unknown rank.
  absl::StatusOr<PartialShape> WithRank(int i, int rank) const;
  absl::StatusOr<PartialShape> WithRankAtLeast(int i, int rank) const;
  absl::StatusOr<PartialShape> WithRankAtMost(int i, int rank) const;

 private:
  Node* node_;
};

// Runs the op's shape function and stores the shapes of the outputs in `node`. A size that is known
// from an earlier run stays known, unless the new shape contradicts it. Returns the error of the
// shape function, which has TensorFlow's text; the shapes of all outputs are then unknown.
// NodeBuilder and ImportGraphDef call InferShapes for each node. Code that changes the inputs of a
// node calls it again.
absl::Status InferShapes(Node* node);

// Returns `s` if its rank is `rank`. If the rank of `s` is unknown, returns a shape of rank `rank`
// with unknown sizes. INVALID_ARGUMENT otherwise.
absl::StatusOr<PartialShape> WithRank(const PartialShape& s, int rank);
// Returns the size that `a` and `b` agree on. -1 is an unknown size and agrees with every size.
// INVALID_ARGUMENT "Dimensions must be equal, but are 2 and 3" if they do not agree.
absl::StatusOr<int64_t> MergeDim(int64_t a, int64_t b);
// Returns the shape to which `a` and `b` broadcast by NumPy's rule. INVALID_ARGUMENT "Dimensions
// must be equal, but are 2 and 3" if two sizes differ and neither is 1.
absl::StatusOr<PartialShape> BroadcastShapes(const PartialShape& a, const PartialShape& b);
// Turns an axis in [-rank, rank) into one in [0, rank). INVALID_ARGUMENT if the axis is outside. If
// the rank is unknown (rank < 0), returns `axis`, or -1 if `axis` is negative.
absl::StatusOr<int> CanonicalAxis(int64_t axis, int rank);

// The functions below return shape functions for common cases. The declaration of an op uses them:
// `.Shape(SameAsInput(0))`.

// Output 0 has the shape of input i. If input i is the handle of a resource, output 0 is a handle
// with the same type and shape of the resource.
ShapeFunction SameAsInput(int i);
// Output 0 has the shape whose sizes are the elements of input i.
ShapeFunction ShapeFromInput(int i);
// All outputs are scalars.
ShapeFunction ScalarOutput();
// The shapes of all outputs are unknown. For ops whose output shapes depend only on the values of
// their inputs.
ShapeFunction UnknownOutputs();
// For ops without outputs, which run for their effects.
ShapeFunction NoOutputs();
// Output 0 has the shape to which inputs 0 and 1 broadcast.
ShapeFunction BroadcastBinary();
// All inputs have the same shape, which is that of output 0.
ShapeFunction AllSameShape();

// Returns the value of `output` if it follows from constants and static shapes, and otherwise
// nullopt. Runs no kernel. Understands Const, Shape/Size/Rank of known shapes, and the ops of shape
// arithmetic (Pack, ConcatV2, StridedSlice, Slice, Range, InvertPermutation, Cast, Add, Sub, Mul,
// Prod, Reshape, Fill, Identity, …). A Const may have any type, a computed value int32 or int64.
std::optional<Tensor> ConstantValue(Output output);
// Returns the shape whose sizes are the elements of `output`, an int32 or int64 vector. A size is
// -1 if the element is not known. Returns nullopt if nothing follows from constants and static
// shapes.
std::optional<PartialShape> ConstantValueAsShape(Output output);

}  // namespace sluice

#endif  // SLUICE_GRAPH_INFER_SHAPE_CONTEXT_H_
