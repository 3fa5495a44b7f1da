// Kernels that decode bytes and text.
#include <algorithm>
#include <cstring>

#include "absl/strings/escaping.h"
#include "executor/kernel/context.h"
#include "graph/format/proto/tensor.pb.h"
#include "graph/format/tensor_proto.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "graph/tensor/bools.h"
#include "ops/io/byte_source.h"
#include "ops/io/csv.h"
#include "ops/state/tuples.h"
#include "ops/strings/number.h"

namespace sluice {
namespace {

// Returns the byte width of a number. A complex number consists of two numbers.
size_t WordSize(DataType type) { return DataTypeSize(type) / (IsComplex(type) ? 2 : 1); }

void ReverseWords(char* bytes, size_t size, size_t word) {
  if (word < 2) return;
  for (size_t i = 0; i + word <= size; i += word) std::reverse(bytes + i, bytes + i + word);
}

absl::Status DecodeRaw(KernelContext& c, Attr<bool, "little_endian"> little_endian) {
  const auto inputs = c.input(0).flat<std::string>();
  const DataType type = c.output_dtype(0);
  const size_t element = DataTypeSize(type);
  const size_t size = inputs.empty() ? 0 : inputs[0].size();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].size() == size) continue;
    return InvalidArgument("DecodeRaw requires input strings to all be the same size, but element ",
                           i, " has size ", size, " != ", inputs[i].size());
  }
  SLUICE_INVALID_IF(size % element != 0, "Input to DecodeRaw has length ", size,
                    " that is not a multiple of ", element, ", the size of ", DataTypeName(type));
  TensorShape shape = c.input(0).shape();
  shape.AddDim(static_cast<int64_t>(size / element));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  auto* to = static_cast<char*>(out->raw());
  for (const std::string& bytes : inputs) {
    std::memcpy(to, bytes.data(), size);
    to += size;
  }
  auto* all = static_cast<char*>(out->raw());
  if (!little_endian) ReverseWords(all, out->bytes(), WordSize(type));
  FixBools(out);
  return absl::OkStatus();
}
KERNEL(DecodeRaw, FunctionKernel<DecodeRaw>);

absl::Status DecodePaddedRaw(KernelContext& c, Attr<bool, "little_endian"> little_endian) {
  const auto inputs = c.input(0).flat<std::string>();
  const DataType type = c.output_dtype(0);
  const auto element = static_cast<int64_t>(DataTypeSize(type));
  SLUICE_RETURN_IF_ERROR(ExpectRank(c.input(1), 0, "k must be scalar, got shape "));
  const int64_t width = c.input(1).scalar<int32_t>();
  SLUICE_INVALID_IF(width <= 0, "fixed_length (", width, ") must be greater than zero.");
  SLUICE_INVALID_IF(width % element != 0, "fixed_length (", width,
                    ") must be a multiple of the size of out_type (", element, ")");
  TensorShape shape = c.input(0).shape();
  SLUICE_RETURN_IF_ERROR(
      MultiplyWithoutOverflow(std::max<int64_t>(shape.num_elements(), 1), width) < 0
          ? InvalidArgument("too many elements: ", shape.num_elements(), " of ", width, " bytes")
          : absl::OkStatus());
  shape.AddDim(width / element);
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  auto* all = static_cast<char*>(out->raw());
  std::memset(all, 0, out->bytes());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const size_t n = std::min(inputs[i].size(), static_cast<size_t>(width));
    std::memcpy(all + i * static_cast<size_t>(width), inputs[i].data(), n);
  }
  if (!little_endian) ReverseWords(all, out->bytes(), WordSize(type));
  FixBools(out);
  return absl::OkStatus();
}
KERNEL(DecodePaddedRaw, FunctionKernel<DecodePaddedRaw>);

absl::StatusOr<StreamCompression> CompressionOf(KernelInit& init) {
  absl::StatusOr<StreamCompression> compression =
      CompressionFromName(init.attr<std::string>("compression_type"));
  SLUICE_INVALID_IF(!compression.ok(), "Only ZLIB, GZIP or NONE are supported compressions, got '",
                    init.attr<std::string>("compression_type"), "'");
  return compression;
}

absl::Status DecodeCompressed(KernelContext& c, const Prepared<CompressionOf>& compression) {
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, c.input(0).shape()));
  const auto inputs = c.input(0).flat<std::string>();
  for (size_t i = 0; i < inputs.size(); ++i) {
    SLUICE_RETURN_IF_ERROR(
        Unpack(BytesOf(inputs[i]), *compression)->ReadAll(&out->data<std::string>()[i]));
  }
  return absl::OkStatus();
}
KERNEL(DecodeCompressed, FunctionKernel<DecodeCompressed>);

template <typename T>
absl::Status StringToNumber(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, c.input(0).shape()));
  const auto inputs = c.input(0).flat<std::string>();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (ParseNumber(inputs[i], &out->data<T>()[i])) continue;
    return InvalidArgument("StringToNumberOp could not correctly convert string: ", inputs[i]);
  }
  return absl::OkStatus();
}
using StringNumberList = TypeList<float, double, int32_t, int64_t, uint32_t, uint64_t>;
FUNCTION_KERNELS(StringToNumber, "out_type", StringToNumber, StringNumberList);

// --- tensors

absl::Status ParseTensor(KernelContext& c) {
  const Tensor& serialized = c.input(0);
  SLUICE_RETURN_IF_ERROR(
      ExpectRank(serialized, 0, "Expected `serialized` to be a scalar, got shape: "));
  const std::string& bytes = serialized.scalar<std::string>();
  pb::TensorProto proto;
  SLUICE_INVALID_IF(
      !proto.ParseFromString(bytes),
      "Could not parse `serialized` as TensorProto, base64: ", absl::Base64Escape(bytes));
  SLUICE_ASSIGN_OR_RETURN(Tensor tensor, TensorFromProto(proto));
  SLUICE_INVALID_IF(tensor.dtype() != c.output_dtype(0), "Type mismatch between parsed tensor (",
                    DataTypeName(tensor.dtype()), ") and dtype (", DataTypeName(c.output_dtype(0)),
                    ")");
  c.set_output(0, std::move(tensor));
  return absl::OkStatus();
}
KERNEL(ParseTensor, FunctionKernel<ParseTensor>);

absl::Status SerializeTensor(KernelContext& c) {
  pb::TensorProto proto;
  SLUICE_RETURN_IF_ERROR(TensorToContentProto(c.input(0), &proto));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, TensorShape()));
  SLUICE_INVALID_IF(!proto.SerializeToString(&out->scalar<std::string>()),
                    "expected a tensor of less than 2 GiB, got ", c.input(0).bytes(), " bytes");
  return absl::OkStatus();
}
KERNEL(SerializeTensor, FunctionKernel<SerializeTensor>);

// --- comma-separated values

template <typename T>
absl::Status SetNumber(const std::string& field, int64_t i, int64_t record, Tensor* out) {
  if (ParseNumber(field, &out->data<T>()[record])) return absl::OkStatus();
  return InvalidArgument("Field ", i, " in record ", record, " is not a valid ",
                         DataTypeName(out->dtype()), ": ", field);
}

absl::Status SetField(const std::string& field, int64_t i, int64_t record, Tensor* out) {
  switch (out->dtype()) {
    case DT_FLOAT:
      return SetNumber<float>(field, i, record, out);
    case DT_DOUBLE:
      return SetNumber<double>(field, i, record, out);
    case DT_INT32:
      return SetNumber<int32_t>(field, i, record, out);
    case DT_INT64:
      return SetNumber<int64_t>(field, i, record, out);
    default:
      out->data<std::string>()[record] = field;
      return absl::OkStatus();
  }
}

class DecodeCsvKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    const std::string delimiter = init.attr<std::string>("field_delim");
    SLUICE_INVALID_IF(delimiter.size() != 1, "field_delim should be only 1 char");
    const auto columns = init.attr<std::vector<int64_t>>("select_cols");
    SLUICE_INVALID_IF(!columns.empty() && static_cast<int>(columns.size()) != init.num_outputs(),
                      "select_cols should match output size");
    for (size_t i = 0; i < columns.size(); ++i) {
      SLUICE_INVALID_IF(columns[i] < 0, "select_cols should be non-negative indices");
      SLUICE_INVALID_IF(i > 0 && columns[i] <= columns[i - 1],
                        "select_cols should be strictly increasing indices");
    }
    return std::unique_ptr<Kernel>(new DecodeCsvKernel(init, delimiter[0], columns));
  }

  absl::Status Compute(KernelContext& c) override {
    const int n = c.num_outputs();
    for (int i = 0; i < n; ++i) {
      const Tensor& value = c.input(1 + i);
      SLUICE_INVALID_IF(value.rank() > 1,
                        "record defaults should be either empty vectors or scalars, got ",
                        value.shape().ToString());
      SLUICE_INVALID_IF(value.num_elements() > 1,
                        "There should only be 1 default per field but field ", i, " has ",
                        value.num_elements());
    }
    std::vector<Tensor*> outputs(n);
    for (int i = 0; i < n; ++i) {
      SLUICE_ASSIGN_OR_RETURN(outputs[i], c.AllocateOutput(i, c.input(0).shape()));
    }
    for (int64_t record = 0; record < c.input(0).num_elements(); ++record) {
      SLUICE_RETURN_IF_ERROR(DecodeRecord(c, record, outputs));
    }
    return absl::OkStatus();
  }

 private:
  DecodeCsvKernel(const KernelInit& init, char delimiter, std::vector<int64_t> columns)
      : format_{.delimiter = delimiter, .use_quotes = init.attr<bool>("use_quote_delim")},
        na_value_(init.attr<std::string>("na_value")),
        columns_(std::move(columns)) {}

  absl::Status DecodeRecord(const KernelContext& c, int64_t record,
                            const std::vector<Tensor*>& outputs) const {
    SLUICE_ASSIGN_OR_RETURN(std::vector<std::string> fields,
                            SplitCsv(c.input(0).data<std::string>()[record], format_));
    if (!columns_.empty()) {
      std::vector<std::string> chosen;
      for (int64_t column : columns_) {
        if (column < static_cast<int64_t>(fields.size())) chosen.push_back(fields[column]);
      }
      fields = std::move(chosen);
    }
    SLUICE_INVALID_IF(fields.size() != outputs.size(), "Expect ", outputs.size(),
                      " fields but have ", fields.size(), " in record ", record);
    for (size_t i = 0; i < fields.size(); ++i) {
      const Tensor& otherwise = c.input(1 + static_cast<int>(i));
      if (!fields[i].empty() && fields[i] != na_value_) {
        SLUICE_RETURN_IF_ERROR(SetField(fields[i], static_cast<int64_t>(i), record, outputs[i]));
      } else if (otherwise.num_elements() == 1) {
        CopyElements(otherwise, 0, 1, outputs[i], record);
      } else {
        return InvalidArgument("Field ", i, " is required but missing in record ", record, "!");
      }
    }
    return absl::OkStatus();
  }

  const CsvFormat format_;
  const std::string na_value_;
  const std::vector<int64_t> columns_;
};
KERNEL(DecodeCSV, DecodeCsvKernel);

}  // namespace
}  // namespace sluice
