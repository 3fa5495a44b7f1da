#include "ops/checkpoint/v1.h"

#include <algorithm>
#include <cstring>

#include "graph/format/tensor_proto.h"
#include "graph/status.h"
#include "graph/tensor/limited_heap.h"

namespace sluice {
namespace {

// Appends the numbers to a typed field of the message. Shape and type are in the table's first
// entry.
template <typename T, typename Field>
void AppendNumbers(const Tensor& tensor, Field* field) {
  for (const T& v : tensor.flat<T>()) field->Add(v);
}

// Appends the real and the imaginary part of each number.
template <typename T, typename Field>
void AppendComplex(const Tensor& tensor, Field* field) {
  for (const std::complex<T>& v : tensor.flat<std::complex<T>>()) {
    field->Add(v.real());
    field->Add(v.imag());
  }
}

absl::Status AppendElements(const Tensor& t, pb::TensorProto* proto) {
  switch (t.dtype()) {
    case DT_FLOAT:
      AppendNumbers<float>(t, proto->mutable_float_val());
      break;
    case DT_DOUBLE:
      AppendNumbers<double>(t, proto->mutable_double_val());
      break;
    case DT_INT32:
    case DT_QINT32:
      AppendNumbers<int32_t>(t, proto->mutable_int_val());
      break;
    case DT_UINT8:
    case DT_QUINT8:
      AppendNumbers<uint8_t>(t, proto->mutable_int_val());
      break;
    case DT_INT16:
      AppendNumbers<int16_t>(t, proto->mutable_int_val());
      break;
    case DT_INT8:
    case DT_QINT8:
      AppendNumbers<int8_t>(t, proto->mutable_int_val());
      break;
    case DT_UINT16:
      AppendNumbers<uint16_t>(t, proto->mutable_int_val());
      break;
    case DT_INT64:
      AppendNumbers<int64_t>(t, proto->mutable_int64_val());
      break;
    case DT_BOOL:
      AppendNumbers<bool>(t, proto->mutable_bool_val());
      break;
    case DT_COMPLEX64:
      AppendComplex<float>(t, proto->mutable_scomplex_val());
      break;
    case DT_COMPLEX128:
      AppendComplex<double>(t, proto->mutable_dcomplex_val());
      break;
    case DT_HALF:
      for (int64_t i = 0; i < t.num_elements(); ++i) {
        uint16_t bits;
        std::memcpy(&bits, t.data<half>() + i, sizeof(bits));
        proto->add_half_val(bits);
      }
      break;
    case DT_STRING:
      for (const std::string& s : t.flat<std::string>()) proto->add_string_val(s);
      break;
    default:
      return absl::UnimplementedError(
          StrCat("Saving data type ", DataTypeName(t.dtype()), " not yet supported"));
  }
  return absl::OkStatus();
}

int64_t ValueCount(const pb::TensorProto& proto, DataType dtype) {
  switch (dtype) {
    case DT_FLOAT:
      return proto.float_val_size();
    case DT_DOUBLE:
      return proto.double_val_size();
    case DT_INT64:
      return proto.int64_val_size();
    case DT_BOOL:
      return proto.bool_val_size();
    case DT_COMPLEX64:
      return proto.scomplex_val_size() / 2;
    case DT_COMPLEX128:
      return proto.dcomplex_val_size() / 2;
    case DT_HALF:
      return proto.half_val_size();
    case DT_STRING:
      return proto.string_val_size();
    default:
      return proto.int_val_size();
  }
}

}  // namespace

absl::Status V1Writer::Add(std::string_view name, const TensorShape& full_shape,
                           const TensorSlice& slice, const Tensor& tensor) {
  auto [it, is_new] = tensors_.emplace(name, meta_.meta().tensor_size());
  pb::SavedSliceMeta* meta = is_new ? meta_.mutable_meta()->add_tensor()
                                    : meta_.mutable_meta()->mutable_tensor(it->second);
  if (is_new) {
    meta->set_name(std::string(name));
    ShapeToProto(full_shape, meta->mutable_shape());
    meta->set_type(static_cast<pb::DataType>(tensor.dtype()));
  } else {
    SLUICE_ASSIGN_OR_RETURN(const PartialShape existing, ShapeFromProto(meta->shape()));
    if (!(existing == PartialShape(full_shape))) {
      return absl::InternalError(
          StrCat("Mismatching shapes: existing tensor = ", existing.ToString(),
                 ", trying to add name ", name, ", shape = ", full_shape.ToString()));
    }
    if (meta->type() != static_cast<pb::DataType>(tensor.dtype())) {
      return absl::InternalError(StrCat(
          "Mismatching types: existing type = ", DataTypeName(static_cast<DataType>(meta->type())),
          ", trying to add name ", name, ", type = ", DataTypeName(tensor.dtype())));
    }
  }
  slice.ToProto(meta->add_slice());
  pb::SavedTensorSlices value;
  value.mutable_data()->set_name(std::string(name));
  slice.ToProto(value.mutable_data()->mutable_slice());
  SLUICE_RETURN_IF_ERROR(AppendElements(tensor, value.mutable_data()->mutable_data()));
  SLUICE_INVALID_IF(!values_.emplace(TensorSliceKey(name, slice), value.SerializeAsString()).second,
                    "Adding duplicate key: ", name, " ", slice.ToString());
  return absl::OkStatus();
}

absl::Status V1Writer::Finish() {
  const std::string temporary = TemporaryName(path_);
  absl::Status status = [&] {
    SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<FileWriter> file, FileWriter::Create(temporary));
    TableWriter table(file.get(), Compression::kSnappy);
    meta_.mutable_meta()->mutable_versions()->set_producer(1);
    SLUICE_RETURN_IF_ERROR(table.Add("", meta_.SerializeAsString()));
    for (const auto& [key, value] : values_) SLUICE_RETURN_IF_ERROR(table.Add(key, value));
    SLUICE_RETURN_IF_ERROR(table.Finish());
    SLUICE_RETURN_IF_ERROR(file->SyncAndClose());
    SLUICE_RETURN_IF_ERROR(RenameFile(temporary, path_));
    return SyncDirectory(DirectoryOf(path_));
  }();
  if (!status.ok()) Discard(temporary);
  return status;
}

absl::StatusOr<V1Reader> V1Reader::Open(const std::string& pattern) {
  V1Reader reader;
  reader.pattern_ = pattern;
  SLUICE_ASSIGN_OR_RETURN(const std::vector<std::string> files, MatchFiles(pattern));
  if (files.empty()) {
    return absl::NotFoundError(
        StrCat("Unsuccessful TensorSliceReader constructor: Failed to find any matching files for ",
               pattern));
  }
  for (const std::string& file : files) SLUICE_RETURN_IF_ERROR(reader.AddTable(file));
  return reader;
}

absl::Status V1Reader::AddTable(const std::string& path) {
  SLUICE_ASSIGN_OR_RETURN(TableReader table, TableReader::Open(path));
  SLUICE_ASSIGN_OR_RETURN(const std::optional<std::string> first, table.Find(""));
  const auto damaged = [&](std::string_view what) {
    return absl::DataLossError(StrCat("checkpoint '", path, "': ", what));
  };
  if (!first) return damaged("no list of tensors; is it the index of a V2 checkpoint?");
  pb::SavedTensorSlices slices;
  if (!slices.ParseFromString(*first)) return damaged("the list of tensors cannot be read");
  for (const pb::SavedSliceMeta& meta : slices.meta().tensor()) {
    std::vector<int64_t> dims;
    for (const auto& dim : meta.shape().dim()) dims.push_back(dim.size());
    absl::StatusOr<TensorShape> shape = TensorShape::Make(dims);
    if (!shape.ok() || !IsValidDataType(meta.type())) {
      return damaged(StrCat("the shape or type of '", meta.name(), "' is none"));
    }
    Stored& stored = tensors_[meta.name()];
    const auto dtype = static_cast<DataType>(meta.type());
    if (stored.dtype != DT_INVALID && (stored.dtype != dtype || !(stored.shape == *shape))) {
      return damaged(StrCat("'", meta.name(), "' has another shape or type in another file"));
    }
    stored.dtype = dtype;
    stored.shape = *shape;
    for (const auto& proto : meta.slice()) {
      const absl::StatusOr<TensorSlice> slice = TensorSlice::FromProto(proto);
      if (!slice.ok() || !slice->ShapeIn(*shape).ok()) {
        return damaged(StrCat("a slice of '", meta.name(), "' does not lie within its shape"));
      }
      stored.parts.push_back({*slice, static_cast<int>(tables_.size())});
    }
  }
  tables_.push_back(std::move(table));
  return absl::OkStatus();
}

std::vector<std::string> V1Reader::names() const {
  std::vector<std::string> names;
  for (const auto& [name, stored] : tensors_) names.push_back(name);
  return names;
}

absl::StatusOr<const V1Reader::Stored*> V1Reader::FindStored(std::string_view name) const {
  const auto it = tensors_.find(name);
  if (it == tensors_.end()) {
    return absl::NotFoundError(
        StrCat("Tensor name \"", name, "\" not found in checkpoint files ", pattern_));
  }
  return &it->second;
}

absl::StatusOr<V1Reader::Entry> V1Reader::Find(std::string_view name) const {
  SLUICE_ASSIGN_OR_RETURN(const Stored* stored, FindStored(name));
  Entry entry = {stored->dtype, stored->shape, {}};
  for (const Part& part : stored->parts) entry.slices.push_back(part.slice);
  return entry;
}

absl::StatusOr<Tensor> V1Reader::ReadPart(std::string_view name, const Stored& stored,
                                          const Part& part) const {
  const TableReader& table = tables_[part.table];
  const auto damaged = [&](std::string_view what) {
    return absl::DataLossError(
        StrCat("checkpoint '", table.path(), "': '", name, "' ", part.slice.ToString(), what));
  };
  SLUICE_ASSIGN_OR_RETURN(const std::optional<std::string> value,
                          table.Find(TensorSliceKey(name, part.slice)));
  pb::SavedTensorSlices slices;
  if (!value || !slices.ParseFromString(*value)) return damaged(" is listed but not there");
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, part.slice.ShapeIn(stored.shape));
  pb::TensorProto& proto = *slices.mutable_data()->mutable_data();
  if (ValueCount(proto, stored.dtype) != shape.num_elements()) {
    return damaged(StrCat(": expected ", shape.num_elements(), " elements, got ",
                          ValueCount(proto, stored.dtype)));
  }
  proto.set_dtype(static_cast<pb::DataType>(stored.dtype));
  proto.clear_tensor_content();
  ShapeToProto(shape, proto.mutable_tensor_shape());
  return TensorFromProto(proto);
}

absl::StatusOr<Tensor> V1Reader::ReadSlice(std::string_view name, const TensorSlice& slice) const {
  SLUICE_ASSIGN_OR_RETURN(const Stored* stored, FindStored(name));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, slice.ShapeIn(stored->shape));
  std::vector<std::pair<TensorSlice, Tensor>> parts;
  int64_t available = 0;  // elements in the files, which bounds the memory that is allocated
  for (const Part& part : stored->parts) {
    if (!part.slice.Intersect(slice)) continue;
    SLUICE_ASSIGN_OR_RETURN(Tensor tensor, ReadPart(name, *stored, part));
    available += tensor.num_elements();
    parts.emplace_back(part.slice, std::move(tensor));
  }
  const auto insufficient = [&] {
    return InvalidArgument("Does not have sufficient slices for partitioned tensor ", name,
                           " to restore in slice_spec: ", slice.ToString(), " (checkpoint files ",
                           pattern_, ")");
  };
  if (available < shape.num_elements()) return insufficient();
  SLUICE_ASSIGN_OR_RETURN(Tensor result, Tensor::Allocate(LimitedHeap(), stored->dtype, shape));
  int64_t copied = 0;
  for (const auto& [place, tensor] : parts) {
    copied += CopySlice(stored->shape, place, tensor, slice, &result);
  }
  if (copied != shape.num_elements()) return insufficient();
  return result;
}

}  // namespace sluice
