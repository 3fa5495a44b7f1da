// TensorProto and TensorShapeProto, in and out.
//
// Reads every encoding that TensorFlow writes: tensor_content, and the typed *_val fields, of which
// the last given value fills the rest. Shapes with negative or too many elements, contents of
// another length and tensors over the budget are INVALID_ARGUMENT (RESOURCE_EXHAUSTED where there
// is no memory).
#ifndef SLUICE_GRAPH_FORMAT_TENSOR_PROTO_H_
#define SLUICE_GRAPH_FORMAT_TENSOR_PROTO_H_

#include <string>

#include "absl/status/statusor.h"
#include "graph/format/limits.h"
#include "graph/format/proto/tensor.pb.h"
#include "graph/format/proto/tensor_shape.pb.h"
#include "graph/tensor/tensor.h"

namespace sluice {

// Unknown rank and sizes of -1 are kept.
absl::StatusOr<PartialShape> ShapeFromProto(const pb::TensorShapeProto& proto);
void ShapeToProto(const PartialShape& shape, pb::TensorShapeProto* proto);

absl::StatusOr<Tensor> TensorFromProto(const pb::TensorProto& proto, FormatBudget& budget);
absl::StatusOr<Tensor> TensorFromProto(const pb::TensorProto& proto);

// As Python's make_tensor_proto writes: tensor_content for more than one number, *_val for a single
// one and for bool and string. UNIMPLEMENTED for variants that hold objects of this process.
absl::Status TensorToProto(const Tensor& tensor, pb::TensorProto* proto);
// As the wire between tasks has it: tensor_content wherever elements are plain bytes.
absl::Status TensorToContentProto(const Tensor& tensor, pb::TensorProto* proto);

ResourceHandle ResourceHandleFromProto(const pb::ResourceHandleProto& proto);
void ResourceHandleToProto(const ResourceHandle& handle, pb::ResourceHandleProto* proto);

// A variant as it came, of a class that nobody here has decoded.
class SerializedVariant : public VariantObject {
 public:
  SerializedVariant(std::string type_name, std::string bytes)
      : type_name_(std::move(type_name)), bytes_(std::move(bytes)) {}
  std::string TypeName() const override { return type_name_; }
  // A VariantTensorDataProto.
  const std::string& bytes() const { return bytes_; }

 private:
  std::string type_name_;
  std::string bytes_;
};

}  // namespace sluice

#endif  // SLUICE_GRAPH_FORMAT_TENSOR_PROTO_H_
