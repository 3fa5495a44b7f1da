#include "ops/pipeline/element_file.h"

#include <snappy.h>

#include <cstring>
#include <utility>

#include "graph/format/proto/snapshot.pb.h"
#include "graph/format/tensor_proto.h"
#include "graph/status.h"
#include "graph/tensor/bools.h"
#include "graph/tensor/limited_heap.h"
#include "ops/io/record_file.h"

namespace sluice {
namespace {

using SnapshotRecord = pb::data::experimental::SnapshotRecord;
using SnapshotTensorMetadata = pb::data::experimental::SnapshotTensorMetadata;

absl::Status Damaged(const std::string& path, const char* what) {
  return absl::DataLossError(StrCat(path, "; ", what));
}

// --- version 2

class RecordElementWriter : public ElementWriter {
 public:
  explicit RecordElementWriter(std::unique_ptr<ByteSink> sink) : ElementWriter(std::move(sink)) {}

  absl::Status Write(const Tensors& element) override {
    for (const Tensor& t : element) {
      pb::TensorProto proto;
      SLUICE_RETURN_IF_ERROR(TensorToContentProto(t, &proto));
      const std::string bytes = proto.SerializeAsString();
      const RecordFrame frame(bytes);
      SLUICE_RETURN_IF_ERROR(sink_->Append(frame.header()));
      SLUICE_RETURN_IF_ERROR(sink_->Append(bytes));
      SLUICE_RETURN_IF_ERROR(sink_->Append(frame.footer()));
    }
    return absl::OkStatus();
  }
};

class RecordElementReader : public ElementReader {
 public:
  RecordElementReader(std::string path, std::unique_ptr<ByteSource> source, size_t components)
      : path_(std::move(path)), reader_(std::move(source)), components_(components) {}

  absl::StatusOr<bool> Next(Tensors* element) override {
    element->clear();
    while (element->size() < components_) {
      const absl::StatusOr<std::string> bytes = reader_.Next();
      if (absl::IsOutOfRange(bytes.status()) && element->empty()) return false;
      if (absl::IsOutOfRange(bytes.status())) return Damaged(path_, "the last element is cut off");
      if (!bytes.ok()) return Annotate(bytes.status(), StrCat(path_, "; "));
      pb::TensorProto proto;
      if (!proto.ParseFromString(*bytes)) {
        return Damaged(path_, "Unable to parse tensor from stored proto.");
      }
      absl::StatusOr<Tensor> component = TensorFromProto(proto);
      if (!component.ok()) {
        return Damaged(path_, "Unable to parse tensor from stored proto.");
      }
      element->push_back(*std::move(component));
    }
    return true;
  }

 private:
  const std::string path_;
  RecordReader reader_;
  const size_t components_;
};

// --- versions 0 and 1

absl::Status AppendRecord(ByteSink& sink, std::string_view bytes) {
  char length[8];
  for (size_t i = 0; i < 8; ++i) length[i] = static_cast<char>(bytes.size() >> (8 * i));
  SLUICE_RETURN_IF_ERROR(sink.Append({length, sizeof length}));
  return sink.Append(bytes);
}

// Reads one record. Returns false at the end of the file.
absl::StatusOr<bool> ReadRecord(const std::string& path, ByteSource& source, std::string* bytes) {
  std::string header;
  SLUICE_RETURN_IF_ERROR(source.Read(8, &header));
  if (header.empty()) return false;
  if (header.size() < 8) return Damaged(path, "a record is cut off");
  uint64_t length = 0;
  for (size_t i = 0; i < 8; ++i) {
    length |= static_cast<uint64_t>(static_cast<unsigned char>(header[i])) << (8 * i);
  }
  if (length > uint64_t{1} << 62) return Damaged(path, "a record is damaged");
  SLUICE_RETURN_IF_ERROR(source.Read(static_cast<size_t>(length), bytes));
  if (bytes->size() < length) return Damaged(path, "a record is cut off");
  return true;
}

class ProtoElementWriter : public ElementWriter {
 public:
  explicit ProtoElementWriter(std::unique_ptr<ByteSink> sink) : ElementWriter(std::move(sink)) {}

  absl::Status Write(const Tensors& element) override {
    SnapshotRecord record;
    for (const Tensor& t : element) {
      SLUICE_RETURN_IF_ERROR(TensorToContentProto(t, record.add_tensor()));
    }
    return AppendRecord(*sink_, record.SerializeAsString());
  }
};

class ProtoElementReader : public ElementReader {
 public:
  ProtoElementReader(std::string path, std::unique_ptr<ByteSource> source)
      : path_(std::move(path)), source_(std::move(source)) {}

  absl::StatusOr<bool> Next(Tensors* element) override {
    std::string bytes;
    SLUICE_ASSIGN_OR_RETURN(const bool any, ReadRecord(path_, *source_, &bytes));
    if (!any) return false;
    SnapshotRecord record;
    if (!record.ParseFromString(bytes)) return Damaged(path_, "a record is damaged");
    element->clear();
    for (const pb::TensorProto& proto : record.tensor()) {
      absl::StatusOr<Tensor> component = TensorFromProto(proto);
      if (!component.ok()) return Damaged(path_, "Unable to parse tensor from proto.");
      element->push_back(*std::move(component));
    }
    return true;
  }

 private:
  const std::string path_;
  const std::unique_ptr<ByteSource> source_;
};

class SnappyElementWriter : public ElementWriter {
 public:
  explicit SnappyElementWriter(std::unique_ptr<ByteSink> sink) : ElementWriter(std::move(sink)) {}

  absl::Status Write(const Tensors& element) override {
    SnapshotTensorMetadata metadata;
    std::string bytes, compressed;
    for (const Tensor& t : element) {
      const size_t had = bytes.size();
      if (IsPlainBytes(t.dtype())) {
        bytes.append(static_cast<const char*>(t.raw()), t.bytes());
      } else {
        pb::TensorProto proto;
        SLUICE_RETURN_IF_ERROR(TensorToContentProto(t, &proto));
        proto.AppendToString(&bytes);
      }
      auto* component = metadata.add_tensor_metadata();
      ShapeToProto(PartialShape(t.shape()), component->mutable_tensor_shape());
      component->set_tensor_size_bytes(static_cast<int64_t>(bytes.size() - had));
    }
    snappy::Compress(bytes.data(), bytes.size(), &compressed);
    SLUICE_RETURN_IF_ERROR(AppendRecord(*sink_, metadata.SerializeAsString()));
    return AppendRecord(*sink_, compressed);
  }
};

class SnappyElementReader : public ElementReader {
 public:
  SnappyElementReader(std::string path, std::unique_ptr<ByteSource> source,
                      std::vector<DataType> types)
      : path_(std::move(path)), source_(std::move(source)), types_(std::move(types)) {}

  absl::StatusOr<bool> Next(Tensors* element) override {
    std::string sizes, compressed, bytes;
    SLUICE_ASSIGN_OR_RETURN(const bool any, ReadRecord(path_, *source_, &sizes));
    if (!any) return false;
    SLUICE_ASSIGN_OR_RETURN(const bool more, ReadRecord(path_, *source_, &compressed));
    SnapshotTensorMetadata metadata;
    size_t length = 0;
    constexpr size_t kMostPerByte = 32;  // snappy: a copy of 64 bytes takes at least three
    if (!more || !metadata.ParseFromString(sizes) ||
        static_cast<size_t>(metadata.tensor_metadata_size()) != types_.size() ||
        !snappy::GetUncompressedLength(compressed.data(), compressed.size(), &length) ||
        length > kMostPerByte * compressed.size() ||
        !snappy::Uncompress(compressed.data(), compressed.size(), &bytes)) {
      return Damaged(path_, "a record is damaged");
    }
    element->clear();
    size_t at = 0;
    for (size_t i = 0; i < types_.size(); ++i) {
      const auto& component = metadata.tensor_metadata(static_cast<int>(i));
      const auto size = static_cast<uint64_t>(component.tensor_size_bytes());
      if (size > bytes.size() - at) return Damaged(path_, "a record is damaged");
      absl::StatusOr<Tensor> t = Component(types_[i], component, bytes.substr(at, size));
      if (!t.ok()) return t.status();
      element->push_back(*std::move(t));
      at += size;
    }
    return true;
  }

 private:
  absl::StatusOr<Tensor> Component(DataType type,
                                   const pb::data::experimental::TensorMetadata& metadata,
                                   const std::string& bytes) const {
    if (!IsPlainBytes(type)) {
      pb::TensorProto proto;
      if (!proto.ParseFromString(bytes)) return Damaged(path_, "Could not parse TensorProto");
      absl::StatusOr<Tensor> t = TensorFromProto(proto);
      return t.ok() ? t : Damaged(path_, "Could not parse Tensor");
    }
    const absl::StatusOr<PartialShape> shape = ShapeFromProto(metadata.tensor_shape());
    if (!shape.ok() || !shape->IsFullyDefined()) return Damaged(path_, "a shape is damaged");
    const TensorShape full = shape->AsShape();
    if (static_cast<uint64_t>(full.num_elements()) * DataTypeSize(type) != bytes.size()) {
      return Damaged(path_, "a shape does not fit the component");
    }
    SLUICE_ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(LimitedHeap(), type, full));
    if (!bytes.empty()) std::memcpy(t.raw(), bytes.data(), bytes.size());
    FixBools(&t);
    return t;
  }

  const std::string path_;
  const std::unique_ptr<ByteSource> source_;
  const std::vector<DataType> types_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ElementWriter>> ElementWriter::Create(const std::string& path,
                                                                     const ElementFormat& format) {
  if (format.version == 2) {
    SLUICE_ASSIGN_OR_RETURN(auto sink, CreateSink(path, format.compression));
    return std::make_unique<RecordElementWriter>(std::move(sink));
  }
  SLUICE_INVALID_IF(format.version != 1, "Snapshot writer version: ", format.version,
                    " is not supported.");
  if (format.compression == FileCompression::kSnappy) {
    SLUICE_ASSIGN_OR_RETURN(auto sink, CreateSink(path, FileCompression::kNone));
    return std::make_unique<SnappyElementWriter>(std::move(sink));
  }
  SLUICE_ASSIGN_OR_RETURN(auto sink, CreateSink(path, format.compression));
  return std::make_unique<ProtoElementWriter>(std::move(sink));
}

absl::StatusOr<std::unique_ptr<ElementReader>> ElementReader::Open(const std::string& path,
                                                                   const ElementFormat& format,
                                                                   std::vector<DataType> types) {
  SLUICE_INVALID_IF(format.version < 0 || format.version > 2,
                    "Snapshot reader version: ", format.version, " is not supported.");
  const bool has_own_blocks = format.version == 1 && format.compression == FileCompression::kSnappy;
  SLUICE_ASSIGN_OR_RETURN(
      auto source, OpenSource(path, has_own_blocks ? FileCompression::kNone : format.compression));
  if (format.version == 2) {
    return std::make_unique<RecordElementReader>(path, std::move(source), types.size());
  }
  if (has_own_blocks) {
    return std::make_unique<SnappyElementReader>(path, std::move(source), std::move(types));
  }
  return std::make_unique<ProtoElementReader>(path, std::move(source));
}

}  // namespace sluice
