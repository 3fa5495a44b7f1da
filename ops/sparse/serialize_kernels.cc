#include <string_view>
#include <vector>

#include "graph/format/tensor_proto.h"
#include "graph/status.h"
#include "ops/sparse/minibatch.h"
#include "ops/sparse/tensor_variant.h"

namespace sluice {
namespace {

// Returns the content of a tensor of strings: the lengths of all strings as varints, followed by
// all bytes.
std::string StringContent(const Tensor& t) {
  std::string content;
  for (const std::string& s : t.flat<std::string>()) {
    uint64_t length = s.size();
    for (; length >= 128; length >>= 7) content += static_cast<char>(length | 128);
    content += static_cast<char>(length);
  }
  for (const std::string& s : t.flat<std::string>()) content += s;
  return content;
}

absl::StatusOr<Tensor> StringsFromContent(const pb::TensorProto& proto) {
  SLUICE_ASSIGN_OR_RETURN(const PartialShape shape, ShapeFromProto(proto.tensor_shape()));
  std::string_view rest = proto.tensor_content();
  const int64_t count = shape.num_elements();
  // Each length takes at least one byte.
  SLUICE_INVALID_IF(count < 0 || static_cast<uint64_t>(count) > rest.size(),
                    "Could not parse serialized proto: ", rest.size(),
                    " bytes for strings of shape ", shape.ToString());
  std::vector<uint64_t> lengths(static_cast<size_t>(count));
  for (uint64_t& length : lengths) {
    for (int shift = 0;; shift += 7) {
      SLUICE_INVALID_IF(rest.empty() || shift > 56, "Could not parse serialized proto");
      const auto byte = static_cast<unsigned char>(rest.front());
      rest.remove_prefix(1);
      length |= static_cast<uint64_t>(byte & 127) << shift;
      if (byte < 128) break;
    }
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor strings, Tensor::Allocate(Heap(), DT_STRING, shape.AsShape()));
  for (size_t i = 0; i < lengths.size(); ++i) {
    SLUICE_INVALID_IF(lengths[i] > rest.size(), "Could not parse serialized proto");
    strings.data<std::string>()[i] = rest.substr(0, lengths[i]);
    rest.remove_prefix(lengths[i]);
  }
  return strings;
}

absl::StatusOr<std::string> AsBytes(const Tensor& t) {
  pb::TensorProto proto;
  SLUICE_RETURN_IF_ERROR(TensorToContentProto(t, &proto));
  if (t.dtype() == DT_STRING && t.num_elements() > 0) {
    proto.clear_string_val();
    proto.set_tensor_content(StringContent(t));
  }
  return proto.SerializeAsString();
}

// Stores the parts from position `at` of `out` on, as strings or variants.
absl::Status Store(const SparseParts& parts, Tensor* out, int64_t at) {
  for (const Tensor* part : {&parts.indices, &parts.values, &parts.shape}) {
    if (out->dtype() == DT_VARIANT) {
      out->data<Variant>()[at++] = AsVariant(*part);
    } else {
      SLUICE_ASSIGN_OR_RETURN(out->data<std::string>()[at++], AsBytes(*part));
    }
  }
  return absl::OkStatus();
}

absl::Status SerializeSparse(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const SparseParts parts, SparseInput(c));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, {3}));
  return Store(parts, out, 0);
}
KERNEL(SerializeSparse, FunctionKernel<SerializeSparse>,
       {"out_type", TypeSet{DT_STRING, DT_VARIANT}});

absl::Status SerializeManySparse(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const SparseParts minibatch, SparseInput(c));
  SLUICE_ASSIGN_OR_RETURN(const std::vector<SparseParts> examples, SplitMinibatch(minibatch));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out,
                          c.AllocateOutput(0, {static_cast<int64_t>(examples.size()), 3}));
  for (size_t i = 0; i < examples.size(); ++i) {
    SLUICE_RETURN_IF_ERROR(Store(examples[i], out, 3 * static_cast<int64_t>(i)));
  }
  return absl::OkStatus();
}
KERNEL(SerializeManySparse, FunctionKernel<SerializeManySparse>,
       {"out_type", TypeSet{DT_STRING, DT_VARIANT}});

absl::StatusOr<Tensor> PartOf(const Tensor& serialized, int64_t at) {
  if (serialized.dtype() == DT_VARIANT) {
    const auto* part = serialized.data<Variant>()[at].get<TensorVariant>();
    if (part != nullptr) return part->tensor();
    return InvalidArgument("expected a variant that holds a tensor, got one that holds '",
                           serialized.data<Variant>()[at].TypeName(), "'");
  }
  pb::TensorProto proto;
  SLUICE_INVALID_IF(!proto.ParseFromString(serialized.data<std::string>()[at]),
                    "Could not parse serialized proto");
  if (static_cast<DataType>(proto.dtype()) == DT_STRING && !proto.tensor_content().empty()) {
    return StringsFromContent(proto);
  }
  return TensorFromProto(proto);
}

absl::Status DeserializeSparse(KernelContext& c) {
  const Tensor& serialized = c.input(0);
  const int rank = serialized.rank();
  SLUICE_INVALID_IF(rank == 0, "Serialized sparse should have non-zero rank ",
                    serialized.shape().ToString());
  SLUICE_INVALID_IF(serialized.dim(rank - 1) != 3,
                    "Serialized sparse should have 3 as the last dimension ",
                    serialized.shape().ToString());
  const TensorShape outer(serialized.shape().dims().subspan(0, rank - 1));
  SLUICE_INVALID_IF(outer.num_elements() == 0,
                    "Serialized sparse should have at least 1 serialized tensor, but has ",
                    "a zero dimension ", serialized.shape().ToString());
  std::vector<SparseParts> examples(static_cast<size_t>(outer.num_elements()));
  for (size_t i = 0; i < examples.size(); ++i) {
    const auto at = 3 * static_cast<int64_t>(i);
    SLUICE_ASSIGN_OR_RETURN(examples[i].indices, PartOf(serialized, at));
    SLUICE_ASSIGN_OR_RETURN(examples[i].values, PartOf(serialized, at + 1));
    SLUICE_ASSIGN_OR_RETURN(examples[i].shape, PartOf(serialized, at + 2));
  }
  return SetMinibatch(c, examples, outer, c.output_dtype(1));
}
KERNEL(DeserializeSparse, FunctionKernel<DeserializeSparse>,
       {"Tserialized", TypeSet{DT_STRING, DT_VARIANT}});

absl::Status DeserializeManySparse(KernelContext& c) {
  SLUICE_RETURN_IF_ERROR(
      ExpectRank(c.input(0), 2, "Serialized sparse should be a matrix of 3 columns, got shape "));
  return DeserializeSparse(c);
}
KERNEL(DeserializeManySparse, FunctionKernel<DeserializeManySparse>);

}  // namespace
}  // namespace sluice
