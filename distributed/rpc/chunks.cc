#include "distributed/rpc/chunks.h"

#include <algorithm>
#include <random>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "distributed/message/bytes.h"
#include "distributed/message/slice_reader.h"
#include "executor/device/memory_account.h"
#include "graph/status.h"

namespace sluice {
namespace {

absl::StatusOr<ChunkHeader> ReadHeader(SliceReader& in) {
  ChunkHeader header;
  if (in.ReadString(ChunkHeader::kNameBytes, &header.name) &&
      in.Read(&header.offset, sizeof(header.offset)) &&
      in.Read(&header.bytes, sizeof(header.bytes))) {
    return header;
  }
  return InvalidArgument("damaged message: expected a chunk of another message");
}

absl::Status CheckOffset(uint64_t expected, uint64_t got) {
  if (got == expected) return absl::OkStatus();
  return InvalidArgument("expected the chunk at byte ", expected, ", got the one at byte ", got);
}

}  // namespace

std::string ChunkHeader::NewName() {
  std::random_device random;
  std::string name;
  while (name.size() < kNameBytes) name.push_back(static_cast<char>(random()));
  return name;
}

grpc::ByteBuffer ChunkHeader::Encode(std::vector<grpc::Slice> content) const {
  std::string text = name;
  text.append(reinterpret_cast<const char*>(&offset), sizeof(offset));
  text.append(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
  content.insert(content.begin(), grpc::Slice(text));
  return grpc::ByteBuffer(content.data(), content.size());
}

std::string ChunkHeader::ToLabel() const {
  return StrCat(absl::BytesToHexString(name), " ", bytes);
}

absl::StatusOr<ChunkHeader> ChunkHeader::FromLabel(std::string_view label) {
  ChunkHeader header;
  const size_t space = label.find(' ');
  header.name = absl::HexStringToBytes(ToAbsl(label.substr(0, space)));
  if (space != label.npos && header.name.size() == kNameBytes &&
      absl::SimpleAtoi(ToAbsl(label.substr(space + 1)), &header.bytes)) {
    return header;
  }
  return InvalidArgument("damaged metadata: expected the label of a chunked message");
}

ChunkedMessages::ChunkedMessages(uint64_t max_bytes, Clock::duration kept_for)
    : max_bytes_(max_bytes), kept_for_(kept_for) {}

ChunkedMessages::~ChunkedMessages() {
  Thread dropper;
  {
    ScopedLock lock(&mutex_);
    stopped_ = true;
    changed_.NotifyAll();
    dropper = std::move(dropper_);
  }
  dropper.Join();
}

std::vector<RpcMethod> ChunkedMessages::Methods() {
  return {{kGetChunk, [this](RpcCall& call) { call.Finish(Get(&call.request())); }, false},
          {kPutChunk, [this](RpcCall& call) { call.Finish(Put(&call.request())); }, false}};
}

absl::StatusOr<std::string> ChunkedMessages::Store(const grpc::ByteBuffer& response) {
  Message message;
  for (grpc::Slice& slice : SlicesOf(response)) {
    if (slice.size() == 0) continue;
    message.end += slice.size();
    message.slices.push_back(std::move(slice));
  }
  message.bytes = message.end;
  const ChunkHeader header{ChunkHeader::NewName(), 0, message.bytes};
  ScopedLock lock(&mutex_);
  messages_[header.name] = std::move(message);
  SLUICE_RETURN_IF_ERROR(Touch(header.name).status());
  return header.ToLabel();
}

absl::StatusOr<grpc::ByteBuffer> ChunkedMessages::Get(grpc::ByteBuffer* request) {
  SliceReader in(request);
  SLUICE_ASSIGN_OR_RETURN(const ChunkHeader header, ReadHeader(in));
  std::vector<grpc::Slice> chunk;
  ScopedLock lock(&mutex_);
  SLUICE_ASSIGN_OR_RETURN(Message* const message, Touch(header.name));
  SLUICE_RETURN_IF_ERROR(CheckOffset(message->begin, header.offset));
  uint64_t left = std::min({header.bytes, message->end - message->begin, kMaxChunkBytes});
  message->begin += left;
  while (left > 0) {
    grpc::Slice& front = message->slices.front();
    const auto n = static_cast<size_t>(std::min<uint64_t>(left, front.size()));
    chunk.push_back(n == front.size() ? front : front.sub(0, n));
    if (n == front.size()) {
      message->slices.pop_front();
    } else {
      front = front.sub(n, front.size());
    }
    left -= n;
  }
  if (message->begin == message->bytes) messages_.erase(header.name);
  return grpc::ByteBuffer(chunk.data(), chunk.size());
}

absl::StatusOr<grpc::ByteBuffer> ChunkedMessages::Put(grpc::ByteBuffer* request) {
  SliceReader in(request);
  SLUICE_ASSIGN_OR_RETURN(const ChunkHeader header, ReadHeader(in));
  if (header.bytes > max_bytes_) {
    return absl::ResourceExhaustedError(
        StrCat("Received message larger than max (", header.bytes, " vs. ", max_bytes_, ")"));
  }
  ScopedLock lock(&mutex_);
  if (header.offset == 0) messages_[header.name].bytes = header.bytes;
  SLUICE_ASSIGN_OR_RETURN(Message* const message, Touch(header.name));
  SLUICE_RETURN_IF_ERROR(CheckOffset(message->end, header.offset));
  if (message->bytes != header.bytes || in.left() > message->bytes - message->end) {
    messages_.erase(header.name);
    return InvalidArgument("expected a message of ", header.bytes, " bytes, got larger chunks");
  }
  if (!message->held.Add(in.left())) {
    messages_.erase(header.name);
    return absl::ResourceExhaustedError(StrCat("OOM when receiving a message of ", header.bytes,
                                               " bytes. ", DescribeMemoryLimits(nullptr)));
  }
  std::vector<grpc::Slice> content;
  message->end += in.left();
  in.ReadSlices(in.left(), &content);
  for (grpc::Slice& slice : content) message->slices.push_back(std::move(slice));
  return BytesOf("");
}

absl::StatusOr<grpc::ByteBuffer> ChunkedMessages::Take(std::string_view label) {
  SLUICE_ASSIGN_OR_RETURN(const ChunkHeader header, ChunkHeader::FromLabel(label));
  ScopedLock lock(&mutex_);
  SLUICE_ASSIGN_OR_RETURN(Message* const message, Touch(header.name));
  if (message->end != message->bytes || message->begin != 0) {
    return absl::FailedPreconditionError(
        StrCat("a message in pieces: ", message->end, " of ", message->bytes, " bytes are there"));
  }
  const std::vector<grpc::Slice> slices(message->slices.begin(), message->slices.end());
  messages_.erase(header.name);
  return grpc::ByteBuffer(slices.data(), slices.size());
}

uint64_t ChunkedMessages::bytes_stored() {
  ScopedLock lock(&mutex_);
  uint64_t bytes = 0;
  for (const auto& [name, message] : messages_) bytes += message.end - message.begin;
  return bytes;
}

absl::StatusOr<ChunkedMessages::Message*> ChunkedMessages::Touch(const std::string& name) {
  auto it = messages_.find(name);
  if (it == messages_.end()) {
    return absl::AbortedError("no such chunked message: it was dropped, or the server restarted");
  }
  it->second.touched = Clock::now();
  if (!dropper_.joinable() && !stopped_) {
    absl::StatusOr<Thread> dropper =
        Thread::Start("chunked messages", ThreadUse::kProcess, [this] { DropOld(); });
    if (!dropper.ok()) {
      messages_.erase(it);
      return dropper.status();
    }
    dropper_ = *std::move(dropper);
  }
  changed_.NotifyAll();
  return &it->second;
}

void ChunkedMessages::DropOld() {
  ScopedLock lock(&mutex_);
  while (!stopped_) {
    const Clock::time_point now = Clock::now();
    Clock::time_point next = Clock::time_point::max();
    for (auto it = messages_.begin(); it != messages_.end();) {
      const Clock::time_point ends = it->second.touched + kept_for_;
      if (ends <= now) {
        it = messages_.erase(it);
      } else {
        next = std::min(next, ends);
        ++it;
      }
    }
    if (messages_.empty()) {
      changed_.Wait(&mutex_);
    } else {
      changed_.WaitUntil(&mutex_, next);
    }
  }
}

}  // namespace sluice
