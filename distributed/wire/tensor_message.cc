#include "distributed/wire/tensor_message.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "distributed/wire/counters.h"
#include "distributed/wire/fetched_buffers.h"
#include "distributed/wire/slice_reader.h"
#include "executor/device/pool_allocator.h"
#include "google/protobuf/wire_format_lite.h"
#include "graph/format/limits.h"
#include "graph/format/tensor_proto.h"
#include "graph/status.h"
#include "grpcpp/support/proto_buffer_reader.h"
#include "grpcpp/support/slice.h"

namespace sluice {
namespace {

using WireFormat = google::protobuf::internal::WireFormatLite;

constexpr uint32_t kLengthDelimited = WireFormat::WIRETYPE_LENGTH_DELIMITED;
constexpr int kContentField = pb::TensorProto::kTensorContentFieldNumber;
// Smaller contents are copied: a slice of their own costs more.
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

// Bytes, and pieces of tensors between them.
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
  grpc::ByteBuffer Take() {
    Flush();
    return grpc::ByteBuffer(slices_.data(), slices_.size());
  }

 private:
  void Flush() {
    if (!bytes_.empty()) slices_.emplace_back(bytes_);
    bytes_.clear();
  }
  std::string bytes_;
  std::vector<grpc::Slice> slices_;
};

// A TensorProto without its content.
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
  if (!tensor.IsInitialized()) return InvalidArgument("tensor without a value");
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

absl::Status Damaged(const google::protobuf::Message& message) {
  return InvalidArgument("damaged message: expected a ", message.GetDescriptor()->name());
}

// Appends a field of an unknown kind, as it came. False when the bytes are no field.
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
    default:  // groups: no message of ours has any
      return false;
  }
  return in.position() <= end && size <= end - in.position() && in.ReadString(size, rest);
}

// Calls `take` for each field before `end`; what it does not take (false) is appended to `rest` as
// it came. False when the bytes are no message.
template <typename F>
bool ForEachField(SliceReader& in, uint64_t end, std::string* rest, F take) {
  while (in.position() < end) {
    uint64_t tag;
    if (!in.ReadVarint(&tag) || tag >> 3 == 0 || tag > UINT32_MAX) return false;
    bool failed = false;
    if (take(static_cast<uint32_t>(tag), &failed)) {
      if (failed) return false;
      continue;
    }
    if (!CopyField(in, static_cast<uint32_t>(tag), end, rest)) return false;
  }
  return in.position() == end;
}

// Calls `read(end)` on the next length-delimited field's inside; false unless it reads all of it.
template <typename F>
bool InsideField(SliceReader& in, uint64_t end, F read) {
  uint64_t length;
  if (!in.ReadVarint(&length) || in.position() > end || length > end - in.position()) return false;
  const uint64_t inside = in.position() + length;
  return read(inside) && in.position() == inside;
}

class TensorReader {
 public:
  explicit TensorReader(SliceReader& in) : in_(in) {}

  // A TensorProto, which goes on to `end`.
  absl::StatusOr<Tensor> Read(uint64_t end) {
    std::string rest;
    Tensor tensor;
    absl::Status status;
    const bool ok = ForEachField(in_, end, &rest, [&](uint32_t tag, bool* failed) {
      if (tag != TagOf(kContentField) || tensor.IsInitialized()) return false;
      absl::StatusOr<bool> taken = TakeContent(rest, end, &tensor);
      if (!taken.ok()) status = taken.status();
      *failed = !taken.ok();
      return !taken.ok() || *taken;
    });
    SLUICE_RETURN_IF_ERROR(status);
    pb::TensorProto proto;
    if (!ok || !proto.ParseFromString(rest)) return Damaged(proto);
    if (tensor.IsInitialized()) return tensor;
    return TensorFromProto(proto, budget_);
  }

 private:
  // Into the tensor's own memory, where type and shape (read before, in `head`) are of plain bytes.
  // False: nothing was read.
  absl::StatusOr<bool> TakeContent(const std::string& head, uint64_t end, Tensor* tensor) {
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
    // What was announced has to be there before memory is taken for it.
    if (expected < 0 || length != static_cast<uint64_t>(expected) ||
        length > end - in_.position()) {
      return InvalidArgument("tensor_content has ", length, " bytes, expected ", expected, " for ",
                             DataTypeName(dtype), " ", shape.ToString());
    }
    WireCounters::Global().received.fetch_add(expected);
    if (TakeSlice(dtype, shape, length, tensor)) return true;
    WireCounters::Global().copied.fetch_add(expected);
    SLUICE_ASSIGN_OR_RETURN(*tensor, Tensor::Allocate(PoolAllocator::Global(), dtype, shape));
    if (!in_.Read(tensor->raw(), length)) return Damaged(proto);
    return true;
  }

  // The content as it lies, where it lies in one piece, aligned as a tensor's is. The tensor then
  // keeps the slice, so not where that is much larger.
  bool TakeSlice(DataType dtype, const TensorShape& shape, uint64_t length, Tensor* tensor) {
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
    auto* kept = new grpc::Slice(slice);
    WireCounters::Global().lent.fetch_add(1);
    Buffer* buffer = Buffer::Wrap(const_cast<uint8_t*>(begin), length, [kept] {
      WireCounters::Global().lent.fetch_sub(1);
      delete kept;
    });
    *tensor = Tensor(dtype, shape, BufferRef(buffer));
    return in_.Skip(length);
  }

  SliceReader& in_;
  FormatBudget budget_;
};

absl::Status ReadTensor(SliceReader& in, TensorField field, TensorReader& reader,
                        NamedTensor* tensor) {
  absl::Status status;
  const auto read_tensor = [&](uint64_t end) {
    absl::StatusOr<Tensor> value = reader.Read(end);
    if (value.ok()) {
      tensor->value = *std::move(value);
    } else {
      status = value.status();
    }
    return status.ok();
  };
  const auto read_named = [&](uint64_t end) {
    std::string rest;
    return ForEachField(in, end, &rest, [&](uint32_t tag, bool* failed) {
      if (tag == TagOf(1)) {
        tensor->name.clear();
        *failed = !InsideField(in, end, [&](uint64_t inside) {
          return in.ReadString(inside - in.position(), &tensor->name);
        });
      } else if (tag == TagOf(2)) {
        *failed = !InsideField(in, end, read_tensor);
      } else {
        return false;
      }
      return true;
    });
  };
  const bool ok = field.form == TensorField::kBare ? InsideField(in, in.size(), read_tensor)
                                                   : InsideField(in, in.size(), read_named);
  SLUICE_RETURN_IF_ERROR(status);
  if (!ok) return InvalidArgument("damaged message: expected a tensor");
  if (tensor->value.IsInitialized()) return absl::OkStatus();
  return InvalidArgument("tensor '", tensor->name, "' has no value");
}

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
  grpc::Slice slice(message.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

absl::Status TakeMessage(grpc::ByteBuffer* bytes, TensorField field,
                         google::protobuf::Message* rest, std::vector<NamedTensor>* tensors) {
  SliceReader in(bytes);
  TensorReader reader(in);
  std::string other;
  absl::Status status;
  const bool ok = ForEachField(in, in.size(), &other, [&](uint32_t tag, bool* failed) {
    if (tag != TagOf(field.number)) return false;
    NamedTensor tensor;
    status = ReadTensor(in, field, reader, &tensor);
    *failed = !status.ok();
    if (status.ok()) tensors->push_back(std::move(tensor));
    return true;
  });
  SLUICE_RETURN_IF_ERROR(status);
  if (!ok || !rest->ParseFromString(other)) return Damaged(*rest);
  return absl::OkStatus();
}

absl::Status DecodeMessage(const grpc::ByteBuffer& bytes, TensorField field,
                           google::protobuf::Message* rest, std::vector<NamedTensor>* tensors) {
  grpc::ByteBuffer shared(bytes);
  return TakeMessage(&shared, field, rest, tensors);
}

absl::Status DecodeMessage(const grpc::ByteBuffer& bytes, google::protobuf::Message* message) {
  grpc::ByteBuffer shared(bytes);
  grpc::ProtoBufferReader stream(&shared);
  if (!message->ParseFromZeroCopyStream(&stream)) return Damaged(*message);
  return absl::OkStatus();
}

}  // namespace sluice
