#include "distributed/message/tensor_message.h"

#include <utility>

#include "distributed/message/bytes.h"
#include "distributed/message/counters.h"
#include "distributed/message/fetched_buffers.h"
#include "distributed/message/slice_reader.h"
#include "executor/device/pool_allocator.h"
#include "google/protobuf/wire_format_lite.h"
#include "graph/format/limits.h"
#include "graph/format/tensor_proto.h"
#include "graph/status.h"
#include "graph/tensor/limited_heap.h"
#include "grpcpp/support/proto_buffer_reader.h"
#include "grpcpp/support/slice.h"

namespace sluice {
namespace {

using WireFormat = google::protobuf::internal::WireFormatLite;

constexpr uint32_t kLengthDelimited = WireFormat::WIRETYPE_LENGTH_DELIMITED;
constexpr int kContentField = pb::TensorProto::kTensorContentFieldNumber;
// Contents below this size, in bytes, are copied into and out of messages, because sharing a slice
// costs more.
constexpr size_t kShareFrom = 8192;

uint32_t TagOf(int field) { return static_cast<uint32_t>(field) << 3 | kLengthDelimited; }

// --- writing

void AppendVarint(uint64_t value, std::string* out) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

void AppendHeader(int field, size_t length, std::string* out) {
  AppendVarint(TagOf(field), out);
  AppendVarint(length, out);
}

void DropReference(void* buffer) { static_cast<Buffer*>(buffer)->Unref(); }

// Collects a message: bytes, and the contents of tensors between them.
class SliceWriter {
 public:
  std::string& bytes() { return bytes_; }

  void AddContent(const Tensor& tensor) {
    const size_t size = tensor.bytes();
    WireCounters::Global().sent.fetch_add(static_cast<int64_t>(size));
    if (size < kShareFrom) {
      WireCounters::Global().copied.fetch_add(static_cast<int64_t>(size));
      bytes_.append(static_cast<const char*>(tensor.raw()), size);
      return;
    }
    Flush();
    Buffer* buffer = tensor.buffer().get();
    buffer->Ref();
    slices_.emplace_back(const_cast<void*>(tensor.raw()), size, DropReference, buffer);
  }
  // Returns a StatusOr, because a ByteBuffer is copied into one.
  absl::StatusOr<grpc::ByteBuffer> Take() {
    Flush();
    return absl::StatusOr<grpc::ByteBuffer>(absl::in_place, slices_.data(), slices_.size());
  }

 private:
  void Flush() {
    if (!bytes_.empty()) slices_.emplace_back(bytes_);
    bytes_.clear();
  }
  std::string bytes_;
  std::vector<grpc::Slice> slices_;
};

// Returns the TensorProto, without its content if that is plain bytes.
absl::StatusOr<std::string> HeadOf(const Tensor& tensor) {
  pb::TensorProto proto;
  if (!IsPlainBytes(tensor.dtype())) {
    SLUICE_RETURN_IF_ERROR(TensorToContentProto(tensor, &proto));
    if (const size_t size = proto.ByteSizeLong(); size > INT32_MAX) {
      return InvalidArgument(DataTypeName(tensor.dtype()), " ", tensor.shape().ToString(), " has ",
                             size, " bytes as a message, expected at most ", INT32_MAX);
    }
    return proto.SerializeAsString();
  }
  SLUICE_INVALID_IF(!tensor.IsInitialized(), "tensor without a value");
  proto.set_dtype(static_cast<pb::DataType>(tensor.dtype()));
  ShapeToProto(tensor.shape(), proto.mutable_tensor_shape());
  return proto.SerializeAsString();
}

absl::Status AddTensor(TensorField field, const NamedTensor& tensor, SliceWriter* out) {
  SLUICE_ASSIGN_OR_RETURN(const std::string head, HeadOf(tensor.value));
  const bool has_content = IsPlainBytes(tensor.value.dtype()) && tensor.value.bytes() > 0;
  std::string content_header;
  if (has_content) AppendHeader(kContentField, tensor.value.bytes(), &content_header);
  const size_t size =
      head.size() + content_header.size() + (has_content ? tensor.value.bytes() : 0);
  if (field.form == TensorField::kNamed) {
    std::string name;
    AppendHeader(1, tensor.name.size(), &name);
    name += tensor.name;
    AppendHeader(2, size, &name);
    AppendHeader(field.number, name.size() + size, &out->bytes());
    out->bytes() += name;
  } else {
    AppendHeader(field.number, size, &out->bytes());
  }
  out->bytes() += head;
  out->bytes() += content_header;
  if (has_content) out->AddContent(tensor.value);
  return absl::OkStatus();
}

// --- reading

absl::Status Damaged(std::string_view expected) {
  return InvalidArgument("damaged message: expected a ", expected);
}
absl::Status Damaged(const google::protobuf::Message& expected) {
  return Damaged(expected.GetDescriptor()->name());
}

// Appends a field to `rest` unchanged. Returns false if the bytes are not a field.
bool CopyField(SliceReader& in, uint32_t tag, uint64_t end, std::string* rest) {
  AppendVarint(tag, rest);
  uint64_t size = 0;
  switch (tag & 7) {
    case WireFormat::WIRETYPE_VARINT:
      if (!in.ReadVarint(&size)) return false;
      AppendVarint(size, rest);
      return in.position() <= end;
    case WireFormat::WIRETYPE_FIXED64:
      size = 8;
      break;
    case WireFormat::WIRETYPE_FIXED32:
      size = 4;
      break;
    case WireFormat::WIRETYPE_LENGTH_DELIMITED:
      if (!in.ReadVarint(&size)) return false;
      AppendVarint(size, rest);
      break;
    default:  // groups, which none of our messages has
      return false;
  }
  return in.position() <= end && size <= end - in.position() && in.ReadString(size, rest);
}

// Calls `read(tag)` for each field before `end`. It returns true if it has read the field's value.
// A field for which it returns false is appended to `rest` unchanged.
template <typename Expected, typename F>
absl::Status ReadFields(SliceReader& in, uint64_t end, const Expected& expected, std::string* rest,
                        F read) {
  while (in.position() < end) {
    uint64_t tag;
    if (!in.ReadVarint(&tag) || tag >> 3 == 0 || tag > UINT32_MAX) return Damaged(expected);
    SLUICE_ASSIGN_OR_RETURN(const bool was_read, read(static_cast<uint32_t>(tag)));
    if (!was_read && !CopyField(in, static_cast<uint32_t>(tag), end, rest)) {
      return Damaged(expected);
    }
  }
  return in.position() == end ? absl::OkStatus() : Damaged(expected);
}

// Calls `read(end)` for the content of a length-delimited field, all of which it has to read.
template <typename F>
absl::Status ReadDelimited(SliceReader& in, uint64_t end, F read) {
  uint64_t length;
  if (!in.ReadVarint(&length) || in.position() > end || length > end - in.position()) {
    return Damaged("tensor");
  }
  const uint64_t inner_end = in.position() + length;
  SLUICE_RETURN_IF_ERROR(read(inner_end));
  return in.position() == inner_end ? absl::OkStatus() : Damaged("tensor");
}

class TensorReader {
 public:
  TensorReader(SliceReader& in, TensorField field) : in_(in), field_(field) {}

  // Reads an element of the field.
  absl::StatusOr<NamedTensor> Read() {
    NamedTensor tensor;
    const absl::Status status = ReadDelimited(in_, in_.size(), [&](uint64_t end) {
      return field_.form == TensorField::kBare ? ReadBare(end, &tensor.value)
                                               : ReadNamed(end, &tensor);
    });
    if (absl::IsResourceExhausted(status) && !tensor.name.empty()) {
      const std::string node = tensor.name.substr(0, tensor.name.rfind(':'));
      return AnnotateAfter(status, AtNode(node));
    }
    SLUICE_RETURN_IF_ERROR(status);
    if (tensor.value.IsInitialized()) return tensor;
    return InvalidArgument("tensor '", tensor.name, "' has no value");
  }

 private:
  absl::Status ReadNamed(uint64_t end, NamedTensor* tensor) {
    std::string unknown;
    return ReadFields(in_, end, "tensor", &unknown, [&](uint32_t tag) -> absl::StatusOr<bool> {
      if (tag == TagOf(1)) {
        tensor->name.clear();
        SLUICE_RETURN_IF_ERROR(ReadDelimited(in_, end, [&](uint64_t name_end) {
          return in_.ReadString(name_end - in_.position(), &tensor->name) ? absl::OkStatus()
                                                                          : Damaged("tensor");
        }));
        return true;
      }
      if (tag != TagOf(2)) return false;
      SLUICE_RETURN_IF_ERROR(ReadDelimited(
          in_, end, [&](uint64_t value_end) { return ReadBare(value_end, &tensor->value); }));
      return true;
    });
  }

  // Reads a TensorProto.
  absl::Status ReadBare(uint64_t end, Tensor* tensor) {
    std::string rest;
    Tensor content;
    pb::TensorProto proto;
    SLUICE_RETURN_IF_ERROR(
        ReadFields(in_, end, proto, &rest, [&](uint32_t tag) -> absl::StatusOr<bool> {
          const bool is_content = tag == TagOf(kContentField);
          if (!is_content || content.IsInitialized()) return false;
          return ReadContent(rest, end, &content);
        }));
    if (!proto.ParseFromString(rest)) return Damaged(proto);
    if (content.IsInitialized()) {
      *tensor = std::move(content);
      return absl::OkStatus();
    }
    SLUICE_ASSIGN_OR_RETURN(*tensor, TensorFromProto(proto, budget_));
    return absl::OkStatus();
  }

  // Reads the content into the tensor's own memory if the dtype and shape, which are in `head`,
  // allow it. Returns false if it has read nothing.
  absl::StatusOr<bool> ReadContent(const std::string& head, uint64_t end, Tensor* tensor) {
    pb::TensorProto proto;
    if (!proto.ParseFromString(head)) return Damaged(proto);
    const auto dtype = static_cast<DataType>(proto.dtype());
    if (!IsValidDataType(dtype) || IsRefType(dtype) || !IsPlainBytes(dtype) || dtype == DT_BOOL) {
      return false;
    }
    SLUICE_ASSIGN_OR_RETURN(const PartialShape partial, ShapeFromProto(proto.tensor_shape()));
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(partial.dims()));
    uint64_t length;
    if (!in_.ReadVarint(&length) || in_.position() > end) return Damaged(proto);
    const int64_t expected =
        MultiplyWithoutOverflow(shape.num_elements(), static_cast<int64_t>(DataTypeSize(dtype)));
    // The announced bytes have to be there before memory is allocated for them.
    SLUICE_INVALID_IF(
        expected < 0 || length != static_cast<uint64_t>(expected) || length > end - in_.position(),
        "tensor_content has ", length, " bytes, expected ", expected, " for ", DataTypeName(dtype),
        " ", shape.ToString());
    WireCounters::Global().received.fetch_add(expected);
    SLUICE_ASSIGN_OR_RETURN(const bool is_shared, ShareSlice(dtype, shape, length, tensor));
    if (is_shared) return true;
    WireCounters::Global().copied.fetch_add(expected);
    SLUICE_ASSIGN_OR_RETURN(*tensor, Tensor::Allocate(PoolAllocator::Global(), dtype, shape));
    if (!in_.Read(tensor->raw(), length)) return Damaged(proto);
    return true;
  }

  // Makes the tensor share the slice that its content lies in, if the content is contiguous and
  // aligned. The tensor keeps the whole slice, so it does not share a much larger one.
  absl::StatusOr<bool> ShareSlice(DataType dtype, const TensorShape& shape, uint64_t length,
                                  Tensor* tensor) {
    if (length < kShareFrom) return false;
    const grpc::Slice& slice = in_.slice();
    const uint8_t* const begin = slice.begin() + in_.offset();
    if (BufferRef fetched = FetchedBuffer(begin, length)) {
      *tensor = Tensor(dtype, shape, std::move(fetched));
      return in_.Skip(length);
    }
    if (slice.size() - in_.offset() < length || slice.size() / 2 > length ||
        reinterpret_cast<uintptr_t>(begin) % kTensorAlignment != 0) {
      return false;
    }
    HeldBytes held;
    if (!held.Add(slice.size())) {
      return absl::ResourceExhaustedError(StrCat("OOM when receiving tensor with shape",
                                                 shape.ToString(), " and type ",
                                                 DataTypeName(dtype)));
    }
    auto* kept = new std::pair(slice, std::move(held));
    WireCounters::Global().lent.fetch_add(1);
    Buffer* buffer = Buffer::Wrap(const_cast<uint8_t*>(begin), length, [kept] {
      WireCounters::Global().lent.fetch_sub(1);
      delete kept;
    });
    *tensor = Tensor(dtype, shape, BufferRef(buffer));
    return in_.Skip(length);
  }

  SliceReader& in_;
  const TensorField field_;
  FormatBudget budget_;
};

}  // namespace

absl::StatusOr<grpc::ByteBuffer> EncodeMessage(const google::protobuf::Message& rest,
                                               TensorField field,
                                               absl::Span<const NamedTensor> tensors) {
  SliceWriter out;
  rest.AppendToString(&out.bytes());
  for (const NamedTensor& tensor : tensors) {
    SLUICE_RETURN_IF_ERROR(
        Annotate(AddTensor(field, tensor, &out), StrCat("tensor '", tensor.name, "': ")));
  }
  return out.Take();
}

grpc::ByteBuffer EncodeMessage(const google::protobuf::Message& message) {
  return BytesOf(message.SerializeAsString());
}

absl::Status TakeMessage(grpc::ByteBuffer* bytes, TensorField field,
                         google::protobuf::Message* rest, std::vector<NamedTensor>* tensors) {
  SliceReader in(bytes);
  TensorReader reader(in, field);
  std::string other;
  SLUICE_RETURN_IF_ERROR(
      ReadFields(in, in.size(), *rest, &other, [&](uint32_t tag) -> absl::StatusOr<bool> {
        if (tag != TagOf(field.number)) return false;
        SLUICE_ASSIGN_OR_RETURN(NamedTensor tensor, reader.Read());
        tensors->push_back(std::move(tensor));
        return true;
      }));
  return rest->ParseFromString(other) ? absl::OkStatus() : Damaged(*rest);
}

absl::Status DecodeMessage(const grpc::ByteBuffer& bytes, TensorField field,
                           google::protobuf::Message* rest, std::vector<NamedTensor>* tensors) {
  grpc::ByteBuffer shared(bytes);
  return TakeMessage(&shared, field, rest, tensors);
}

absl::Status DecodeMessage(const grpc::ByteBuffer& bytes, google::protobuf::Message* message) {
  grpc::ByteBuffer shared(bytes);
  grpc::ProtoBufferReader stream(&shared);
  return message->ParseFromZeroCopyStream(&stream) ? absl::OkStatus() : Damaged(*message);
}

}  // namespace sluice
