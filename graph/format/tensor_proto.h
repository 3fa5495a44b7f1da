// Reads and writes TensorProto and TensorShapeProto.
//
// Reads every encoding that TensorFlow writes: tensor_content, and the typed *_val fields, whose
// last value fills the remaining elements.
//
// Thread safety: pure functions. Errors: INVALID_ARGUMENT for shapes with negative or too many
// elements, contents of the wrong length and tensors over the budget; RESOURCE_EXHAUSTED if there
// is no memory.
#ifndef SLUICE_GRAPH_FORMAT_TENSOR_PROTO_H_
#define SLUICE_GRAPH_FORMAT_TENSOR_PROTO_H_

#include <string>

#include "absl/status/statusor.h"
#include "graph/format/limits.h"
#include "graph/format/proto/tensor.pb.h"
#include "graph/format/proto/tensor_shape.pb.h"
#include "graph/tensor/limited_heap.h"
#include "graph/tensor/tensor.h"

namespace sluice {

// Unknown rank and sizes of -1 are kept.
absl::StatusOr<PartialShape> ShapeFromProto(const pb::TensorShapeProto& proto);
void ShapeToProto(const PartialShape& shape, pb::TensorShapeProto* proto);

// Allocates the tensor from `memory`, which must outlive it.
absl::StatusOr<Tensor> TensorFromProto(const pb::TensorProto& proto, FormatBudget& budget,
                                       Allocator& memory = LimitedHeap());
absl::StatusOr<Tensor> TensorFromProto(const pb::TensorProto& proto);

// Writes the tensor as Python's make_tensor_proto does: tensor_content for several numbers, *_val
// for a single one and for bool and string. More than 64 equal elements are written as one *_val,
// which readers repeat. UNIMPLEMENTED for variants that hold objects of this process.
// INVALID_ARGUMENT for a tensor without a value, or with more than 2 GB of numbers.
absl::Status TensorToProto(const Tensor& tensor, pb::TensorProto* proto);
// Writes the tensor as tasks send it: tensor_content for all types whose elements are plain bytes.
absl::Status TensorToContentProto(const Tensor& tensor, pb::TensorProto* proto);

ResourceHandle ResourceHandleFromProto(const pb::ResourceHandleProto& proto);
void ResourceHandleToProto(const ResourceHandle& handle, pb::ResourceHandleProto* proto);

// A variant that was read from a message but not decoded.
class SerializedVariant : public VariantObject {
 public:
  SerializedVariant(std::string type_name, std::string bytes)
      : type_name_(std::move(type_name)), bytes_(std::move(bytes)) {}
  std::string TypeName() const override { return type_name_; }
  // The serialized VariantTensorDataProto.
  const std::string& bytes() const { return bytes_; }

 private:
  std::string type_name_;
  std::string bytes_;
};

}  // namespace sluice

#endif  // SLUICE_GRAPH_FORMAT_TENSOR_PROTO_H_
