// Implements BundleReader, which reads checkpoints (bundle.h).
#include <algorithm>
#include <cstring>
#include <limits>

#include "absl/strings/escaping.h"
#include "graph/format/checksum.h"
#include "graph/format/tensor_proto.h"
#include "graph/status.h"
#include "graph/tensor/bools.h"
#include "graph/tensor/limited_heap.h"
#include "ops/checkpoint/bundle.h"
#include "ops/checkpoint/table.h"
#include "ops/checkpoint/varint.h"

namespace sluice {
namespace {

constexpr int kVersion = 1;

// Returns whether a key belongs to a slice. Such keys begin with the ordered code of 0, unlike the
// names of tensors.
bool IsPartKey(std::string_view key) { return key.starts_with('\0'); }

// Returns whether `parts` cover the slice `target` of a tensor of `shape`. `copied` is the number
// of elements that were copied from the parts.
bool Covers(const TensorShape& shape, const std::vector<TensorSlice>& parts,
            const TensorSlice& target, const TensorShape& target_shape, int64_t copied) {
  bool is_disjoint = true;
  for (size_t i = 0; i < parts.size() && is_disjoint; ++i) {
    for (size_t j = 0; j < i && is_disjoint; ++j) {
      is_disjoint = !parts[i].Intersect(parts[j]).has_value();
    }
  }
  if (is_disjoint) return copied == target_shape.num_elements();
  // The parts overlap, so `copied` may count an element twice. Marks the covered elements instead.
  Tensor marks(DT_BOOL, target_shape);
  std::fill_n(marks.data<bool>(), marks.num_elements(), false);
  for (const TensorSlice& part : parts) {
    const absl::StatusOr<TensorShape> part_shape = part.ShapeIn(shape);
    if (!part_shape.ok()) return false;
    Tensor ones(DT_BOOL, *part_shape);
    std::fill_n(ones.data<bool>(), ones.num_elements(), true);
    CopySlice(shape, part, ones, target, &marks);
  }
  return std::all_of(marks.data<bool>(), marks.data<bool>() + marks.num_elements(),
                     [](bool b) { return b; });
}

}  // namespace

absl::Status BundleReader::Damaged(std::string_view what) const {
  return absl::DataLossError(StrCat("checkpoint '", prefix_, "': ", what));
}

absl::StatusOr<std::unique_ptr<BundleReader>> BundleReader::Open(const std::string& prefix) {
  auto reader = std::unique_ptr<BundleReader>(new BundleReader(prefix));
  SLUICE_RETURN_IF_ERROR(reader->ReadIndex());
  return reader;
}

absl::Status BundleReader::ReadIndex() {
  SLUICE_ASSIGN_OR_RETURN(const TableReader index, TableReader::Open(BundleIndexName(prefix_)));
  bool has_header = false;
  SLUICE_RETURN_IF_ERROR(
      index.ForEach([&](std::string_view key, std::string_view value) -> absl::Status {
        if (key.empty()) {
          pb::BundleHeaderProto header;
          if (!header.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
            return Damaged("the header cannot be read");
          }
          if (header.endianness() != pb::BundleHeaderProto::LITTLE) {
            return absl::UnimplementedError(
                StrCat("checkpoint '", prefix_, "': written on a big-endian machine"));
          }
          SLUICE_INVALID_IF(header.version().min_consumer() > kVersion, "checkpoint '", prefix_,
                            "': expected a format up to version ", kVersion, ", got ",
                            header.version().min_consumer());
          num_shards_ = header.num_shards();
          has_header = true;
          return absl::OkStatus();
        }
        pb::BundleEntryProto entry;
        if (!entry.ParseFromArray(value.data(), static_cast<int>(value.size()))) {
          return Damaged(StrCat("the entry '", absl::CHexEscape(ToAbsl(key)), "' cannot be read"));
        }
        entries_.emplace(key, std::move(entry));
        return absl::OkStatus();
      }));
  if (!has_header) return Damaged("the index has no header");
  if (num_shards_ < 1) return Damaged(StrCat(num_shards_, " shards"));
  return absl::OkStatus();
}

std::vector<std::string> BundleReader::names() const {
  std::vector<std::string> names;
  for (const auto& [key, entry] : entries_) {
    if (!IsPartKey(key)) names.push_back(key);
  }
  return names;
}

bool BundleReader::Contains(std::string_view name) const { return entries_.contains(name); }

absl::StatusOr<const pb::BundleEntryProto*> BundleReader::FindEntry(std::string_view key,
                                                                    std::string_view shown) const {
  const auto it = entries_.find(key);
  if (it == entries_.end()) {
    return absl::NotFoundError(StrCat("Key ", shown, " not found in checkpoint '", prefix_, "'"));
  }
  return &it->second;
}

absl::StatusOr<BundleReader::Entry> BundleReader::Decode(std::string_view name,
                                                         const pb::BundleEntryProto& entry) const {
  Entry decoded;
  if (!IsValidDataType(entry.dtype()) || IsRefType(static_cast<DataType>(entry.dtype()))) {
    return Damaged(StrCat("'", name, "' has the unknown type ", static_cast<int>(entry.dtype())));
  }
  decoded.dtype = static_cast<DataType>(entry.dtype());
  std::vector<int64_t> dims;
  for (const auto& dim : entry.shape().dim()) dims.push_back(dim.size());
  absl::StatusOr<TensorShape> shape = TensorShape::Make(dims);
  if (!shape.ok() || entry.shape().unknown_rank()) {
    return Damaged(StrCat("the shape of '", name, "' is none"));
  }
  decoded.shape = *std::move(shape);
  for (const auto& proto : entry.slices()) {
    const absl::StatusOr<TensorSlice> slice = TensorSlice::FromProto(proto);
    if (!slice.ok() || !slice->ShapeIn(decoded.shape).ok()) {
      return Damaged(StrCat("a slice of '", name, "' does not lie within its shape"));
    }
    decoded.slices.push_back(*slice);
  }
  return decoded;
}

absl::StatusOr<BundleReader::Entry> BundleReader::Find(std::string_view name) const {
  SLUICE_ASSIGN_OR_RETURN(const pb::BundleEntryProto* entry, FindEntry(name, name));
  return Decode(name, *entry);
}

absl::StatusOr<FileReader*> BundleReader::Shard(int shard) const {
  if (shard < 0 || shard >= num_shards_) {
    return Damaged(StrCat("expected a shard below ", num_shards_, ", got ", shard));
  }
  ScopedLock lock(&mutex_);
  std::unique_ptr<FileReader>& file = shards_[shard];
  if (file == nullptr) {
    absl::StatusOr<std::unique_ptr<FileReader>> opened =
        FileReader::Open(BundleDataName(prefix_, shard, num_shards_));
    if (!opened.ok()) return opened.status();
    file = *std::move(opened);
  }
  return file.get();
}

absl::Status BundleReader::ReadStrings(std::string_view name, const pb::BundleEntryProto& entry,
                                       const FileReader& file, Tensor* tensor) const {
  std::string bytes(static_cast<size_t>(entry.size()), '\0');
  SLUICE_RETURN_IF_ERROR(file.ReadAt(entry.offset(), entry.size(), bytes.data()));
  std::string_view rest = bytes;
  std::vector<uint64_t> lengths;
  uint32_t crc = 0;
  for (int64_t i = 0; i < tensor->num_elements(); ++i) {
    uint64_t length;
    if (!TakeVarint(&rest, &length)) return Damaged(StrCat("a length in '", name, "' is cut off"));
    const bool is_narrow = length <= std::numeric_limits<uint32_t>::max();
    crc = is_narrow ? ExtendCrc32c(crc, BytesOf(static_cast<uint32_t>(length)))
                    : ExtendCrc32c(crc, BytesOf(length));
    lengths.push_back(length);
  }
  uint32_t masked = 0;
  if (rest.size() < sizeof(masked)) return Damaged(StrCat("'", name, "' is cut off"));
  std::memcpy(&masked, rest.data(), sizeof(masked));
  rest.remove_prefix(sizeof(masked));
  if (UnmaskCrc(masked) != crc) {
    return Damaged(StrCat("the lengths of the strings of '", name, "' do not have their checksum"));
  }
  crc = ExtendCrc32c(crc, BytesOf(masked));
  if (ExtendCrc32c(crc, rest) != UnmaskCrc(entry.crc32c())) {
    return Damaged(StrCat("'", name, "' does not have its checksum"));
  }
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] > rest.size()) return Damaged(StrCat("a string of '", name, "' is cut off"));
    tensor->data<std::string>()[i] = std::string(rest.substr(0, lengths[i]));
    rest.remove_prefix(lengths[i]);
  }
  return rest.empty() ? absl::OkStatus()
                      : Damaged(StrCat("'", name, "' is longer than its strings"));
}

absl::StatusOr<Tensor> BundleReader::ReadVariants(std::string_view name,
                                                  const pb::BundleEntryProto& entry,
                                                  const FileReader& file,
                                                  const TensorShape& shape) const {
  std::string bytes(static_cast<size_t>(entry.size()), '\0');
  SLUICE_RETURN_IF_ERROR(file.ReadAt(entry.offset(), entry.size(), bytes.data()));
  std::string_view rest = bytes;
  pb::TensorProto proto;
  proto.set_dtype(pb::DT_VARIANT);
  ShapeToProto(shape, proto.mutable_tensor_shape());
  uint32_t crc = 0;
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    uint64_t length;
    uint32_t masked;
    if (!TakeVarint(&rest, &length) || length > std::numeric_limits<int>::max() ||
        rest.size() < length + sizeof(masked)) {
      return Damaged(StrCat("a variant of '", name, "' is cut off"));
    }
    crc = ExtendCrc32c(ExtendCrc32c(crc, BytesOf(length)), rest.substr(0, length));
    std::memcpy(&masked, rest.data() + length, sizeof(masked));
    if (UnmaskCrc(masked) != crc) {
      return Damaged(StrCat("a variant of '", name, "' does not have its checksum"));
    }
    crc = ExtendCrc32c(crc, BytesOf(masked));
    if (!proto.add_variant_val()->ParseFromArray(rest.data(), static_cast<int>(length))) {
      return Damaged(StrCat("a variant of '", name, "' cannot be read"));
    }
    rest.remove_prefix(length + sizeof(masked));
  }
  if (!rest.empty()) return Damaged(StrCat("'", name, "' is longer than its variants"));
  if (crc != UnmaskCrc(entry.crc32c())) {
    return Damaged(StrCat("'", name, "' does not have its checksum"));
  }
  return TensorFromProto(proto);
}

absl::StatusOr<FileReader*> BundleReader::Locate(std::string_view name,
                                                 const pb::BundleEntryProto& entry,
                                                 const Entry& decoded) const {
  SLUICE_ASSIGN_OR_RETURN(FileReader * file, Shard(entry.shard_id()));
  if (entry.offset() < 0 || entry.size() < 0 || entry.offset() > file->size() ||
      entry.size() > file->size() - entry.offset()) {
    return Damaged(StrCat("'", name, "': expected ", entry.size(), " bytes at ", entry.offset(),
                          " of '", file->path(), "', which has ", file->size()));
  }
  const int64_t n = decoded.shape.num_elements();
  const auto element = static_cast<int64_t>(DataTypeSize(decoded.dtype));
  // Each string or variant takes at least one byte, for its length.
  if (decoded.dtype == DT_STRING || decoded.dtype == DT_VARIANT
          ? n > entry.size()
          : element == 0 || MultiplyWithoutOverflow(n, element) != entry.size()) {
    return Damaged(StrCat("'", name, "': ", entry.size(), " bytes cannot be ",
                          DataTypeName(decoded.dtype), decoded.shape.ToString()));
  }
  return file;
}

absl::StatusOr<Tensor> BundleReader::ReadEntry(std::string_view name,
                                               const pb::BundleEntryProto& entry,
                                               const Entry& decoded) const {
  SLUICE_ASSIGN_OR_RETURN(const FileReader* file, Locate(name, entry, decoded));
  if (decoded.dtype == DT_VARIANT) return ReadVariants(name, entry, *file, decoded.shape);
  SLUICE_ASSIGN_OR_RETURN(Tensor tensor,
                          Tensor::Allocate(LimitedHeap(), decoded.dtype, decoded.shape));
  if (decoded.dtype == DT_STRING) {
    SLUICE_RETURN_IF_ERROR(ReadStrings(name, entry, *file, &tensor));
    return tensor;
  }
  SLUICE_RETURN_IF_ERROR(file->ReadAt(entry.offset(), entry.size(), tensor.raw()));
  const std::string_view bytes(static_cast<const char*>(tensor.raw()), tensor.bytes());
  if (Crc32c(bytes) != UnmaskCrc(entry.crc32c())) {
    return Damaged(StrCat("'", name, "' does not have its checksum"));
  }
  FixBools(&tensor);
  return tensor;
}

absl::StatusOr<Tensor> BundleReader::Read(std::string_view name) const {
  SLUICE_ASSIGN_OR_RETURN(const pb::BundleEntryProto* entry, FindEntry(name, name));
  SLUICE_ASSIGN_OR_RETURN(const Entry decoded, Decode(name, *entry));
  if (!decoded.slices.empty()) return ReadSlice(name, TensorSlice::Full(decoded.shape.rank()));
  return ReadEntry(name, *entry, decoded);
}

absl::StatusOr<std::vector<BundleReader::Part>> BundleReader::PartsOf(
    std::string_view name, const Entry& whole, const TensorSlice& slice) const {
  std::vector<Part> parts;
  for (const TensorSlice& part : whole.slices) {
    if (!part.Intersect(slice)) continue;
    std::string shown = StrCat(name, " ", part.ToString());
    SLUICE_ASSIGN_OR_RETURN(const pb::BundleEntryProto* proto,
                            FindEntry(TensorSliceKey(name, part), shown));
    SLUICE_ASSIGN_OR_RETURN(Entry entry, Decode(shown, *proto));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, part.ShapeIn(whole.shape));
    if (entry.dtype != whole.dtype || !(entry.shape == shape)) {
      return Damaged(StrCat("'", shown, "': expected ", DataTypeName(whole.dtype), shape.ToString(),
                            ", got ", DataTypeName(entry.dtype), entry.shape.ToString()));
    }
    SLUICE_RETURN_IF_ERROR(Locate(shown, *proto, entry).status());
    parts.push_back({std::move(shown), part, proto, std::move(entry)});
  }
  return parts;
}

absl::StatusOr<Tensor> BundleReader::ReadSlice(std::string_view name,
                                               const TensorSlice& slice) const {
  SLUICE_ASSIGN_OR_RETURN(const pb::BundleEntryProto* entry, FindEntry(name, name));
  SLUICE_ASSIGN_OR_RETURN(const Entry whole, Decode(name, *entry));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, slice.ShapeIn(whole.shape));
  if (whole.slices.empty()) {
    SLUICE_ASSIGN_OR_RETURN(Tensor all, ReadEntry(name, *entry, whole));
    if (shape == whole.shape) return all;
    SLUICE_ASSIGN_OR_RETURN(Tensor part, Tensor::Allocate(LimitedHeap(), whole.dtype, shape));
    CopySlice(whole.shape, TensorSlice::Full(whole.shape.rank()), all, slice, &part);
    return part;
  }
  SLUICE_ASSIGN_OR_RETURN(const std::vector<Part> parts, PartsOf(name, whole, slice));
  std::vector<TensorSlice> places;
  int64_t available = 0;  // elements in the files, an upper bound of the allocation below
  for (const Part& part : parts) {
    places.push_back(part.slice);
    available += part.entry.shape.num_elements();
  }
  const auto insufficient = [&] {
    return InvalidArgument("Does not have sufficient slices for partitioned tensor ", name,
                           " to restore in slice_spec: ", slice.ToString(), " (checkpoint '",
                           prefix_, "')");
  };
  if (available < shape.num_elements()) return insufficient();
  SLUICE_ASSIGN_OR_RETURN(Tensor result, Tensor::Allocate(LimitedHeap(), whole.dtype, shape));
  int64_t copied = 0;
  for (const Part& part : parts) {
    SLUICE_ASSIGN_OR_RETURN(const Tensor tensor, ReadEntry(part.shown, *part.proto, part.entry));
    copied += CopySlice(whole.shape, part.slice, tensor, slice, &result);
  }
  if (!Covers(whole.shape, places, slice, shape, copied)) return insufficient();
  return result;
}

}  // namespace sluice
