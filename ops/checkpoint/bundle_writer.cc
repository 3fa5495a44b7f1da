// Implements BundleWriter, which writes checkpoints (bundle.h).

#include <limits>

#include "graph/format/checksum.h"
#include "graph/format/tensor_proto.h"
#include "graph/status.h"
#include "ops/checkpoint/bundle.h"
#include "ops/checkpoint/bundle_commit.h"
#include "ops/checkpoint/varint.h"

namespace sluice {
namespace {

// Writes the lengths, their checksum and the strings. For the checksum of the entry, each length
// counts as a number of four bytes (eight if it is larger), although the file has varints.
absl::StatusOr<uint32_t> WriteStrings(const Tensor& tensor, FileWriter* file) {
  std::string lengths;
  uint32_t crc = 0;
  for (const std::string& s : tensor.flat<std::string>()) {
    AppendVarint(s.size(), &lengths);
    if (s.size() <= std::numeric_limits<uint32_t>::max()) {
      crc = ExtendCrc32c(crc, BytesOf(static_cast<uint32_t>(s.size())));
    } else {
      crc = ExtendCrc32c(crc, BytesOf(static_cast<uint64_t>(s.size())));
    }
  }
  SLUICE_RETURN_IF_ERROR(file->Append(lengths));
  const uint32_t masked = MaskCrc(crc);
  SLUICE_RETURN_IF_ERROR(file->Append(BytesOf(masked)));
  crc = ExtendCrc32c(crc, BytesOf(masked));
  for (const std::string& s : tensor.flat<std::string>()) {
    SLUICE_RETURN_IF_ERROR(file->Append(s));
    crc = ExtendCrc32c(crc, s);
  }
  return crc;
}

// Writes the length, bytes and checksum of each variant. The checksum covers all that was written
// before it, with each length as a number of eight bytes.
absl::StatusOr<uint32_t> WriteVariants(const Tensor& tensor, FileWriter* file) {
  pb::TensorProto proto;
  SLUICE_RETURN_IF_ERROR(TensorToProto(tensor, &proto));
  uint32_t crc = 0;
  for (const pb::VariantTensorDataProto& variant : proto.variant_val()) {
    const std::string bytes = variant.SerializeAsString();
    std::string length;
    AppendVarint(bytes.size(), &length);
    SLUICE_RETURN_IF_ERROR(file->Append(length));
    SLUICE_RETURN_IF_ERROR(file->Append(bytes));
    crc = ExtendCrc32c(ExtendCrc32c(crc, BytesOf(uint64_t{bytes.size()})), bytes);
    const uint32_t masked = MaskCrc(crc);
    SLUICE_RETURN_IF_ERROR(file->Append(BytesOf(masked)));
    crc = ExtendCrc32c(crc, BytesOf(masked));
  }
  return crc;
}

absl::StatusOr<uint32_t> WriteElements(const Tensor& tensor, FileWriter* file) {
  if (tensor.dtype() == DT_STRING) return WriteStrings(tensor, file);
  if (tensor.dtype() == DT_VARIANT) return WriteVariants(tensor, file);
  const std::string_view bytes(static_cast<const char*>(tensor.raw()), tensor.bytes());
  SLUICE_RETURN_IF_ERROR(file->Append(bytes));
  return Crc32c(bytes);
}

}  // namespace

BundleWriter::BundleWriter(std::string prefix)
    : prefix_(std::move(prefix)), data_name_(TemporaryName(BundleDataName(prefix_, 0, 1))) {}

absl::StatusOr<std::unique_ptr<BundleWriter>> BundleWriter::Create(const std::string& prefix) {
  const std::string directory = DirectoryOf(prefix);
  if (!FileExists(directory) && FileExists(DirectoryOf(directory))) {
    SLUICE_RETURN_IF_ERROR(MakeDirectories(directory));
  }
  auto writer = std::unique_ptr<BundleWriter>(new BundleWriter(prefix));
  SLUICE_ASSIGN_OR_RETURN(writer->data_, FileWriter::Create(writer->data_name_));
  return writer;
}

BundleWriter::~BundleWriter() {
  if (!is_finished_) Discard(data_name_);
}

absl::Status BundleWriter::AddEntry(std::string key, std::string_view shown, const Tensor& tensor) {
  SLUICE_INVALID_IF(key.empty() || shown.empty(), "a tensor's name may not be empty");
  SLUICE_INVALID_IF(entries_.contains(key), "Adding duplicate key: ", shown);
  if (!tensor.IsInitialized()) {
    return absl::FailedPreconditionError(StrCat("tensor '", shown, "' has no value"));
  }
  if (tensor.dtype() != DT_STRING && tensor.dtype() != DT_VARIANT &&
      !IsPlainBytes(tensor.dtype())) {
    return absl::UnimplementedError(
        StrCat("tensor '", shown, "' of type ", DataTypeName(tensor.dtype()), " cannot be saved"));
  }
  pb::BundleEntryProto entry;
  entry.set_dtype(static_cast<pb::DataType>(tensor.dtype()));
  ShapeToProto(tensor.shape(), entry.mutable_shape());
  entry.set_offset(data_->size());
  SLUICE_ASSIGN_OR_RETURN(const uint32_t crc, WriteElements(tensor, data_.get()));
  entry.set_size(data_->size() - entry.offset());
  entry.set_crc32c(MaskCrc(crc));
  entries_.emplace(std::move(key), std::move(entry));
  return absl::OkStatus();
}

absl::Status BundleWriter::Add(std::string_view name, const Tensor& tensor) {
  return AddEntry(std::string(name), name, tensor);
}

absl::Status BundleWriter::AddSlice(std::string_view name, const TensorShape& full_shape,
                                    const TensorSlice& slice, const Tensor& tensor) {
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, slice.ShapeIn(full_shape));
  if (shape == full_shape) return Add(name, tensor);
  SLUICE_INVALID_IF(!(shape == tensor.shape()), "slice ", slice.ToString(), " of '", name,
                    "': expected a tensor of ", shape.ToString(), ", got ",
                    tensor.shape().ToString());
  const auto dtype = static_cast<pb::DataType>(tensor.dtype());
  pb::TensorShapeProto full;
  ShapeToProto(full_shape, &full);
  if (auto whole = entries_.find(name); whole != entries_.end()) {
    const pb::BundleEntryProto& e = whole->second;
    SLUICE_INVALID_IF(e.slices_size() == 0, "Adding duplicate key: ", name);
    if (e.dtype() != dtype || e.shape().SerializeAsString() != full.SerializeAsString()) {
      SLUICE_ASSIGN_OR_RETURN(const PartialShape other, ShapeFromProto(e.shape()));
      return InvalidArgument("slice ", slice.ToString(), " of '", name, "': expected a part of ",
                             DataTypeName(static_cast<DataType>(e.dtype())), other.ToString(),
                             " as the others, got one of ", DataTypeName(tensor.dtype()),
                             full_shape.ToString());
    }
  }
  SLUICE_RETURN_IF_ERROR(
      AddEntry(TensorSliceKey(name, slice), StrCat(name, " ", slice.ToString()), tensor));
  pb::BundleEntryProto& whole = entries_[std::string(name)];
  whole.set_dtype(dtype);
  *whole.mutable_shape() = full;
  slice.ToProto(whole.add_slices());
  return absl::OkStatus();
}

absl::Status BundleWriter::Finish() {
  SLUICE_RETURN_IF_ERROR(data_->SyncAndClose());
  SLUICE_RETURN_IF_ERROR(CommitBundle(prefix_, {data_name_}, entries_));
  is_finished_ = true;
  return absl::OkStatus();
}

}  // namespace sluice
