#include "distributed/wire/parcels.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "distributed/wire/slice_reader.h"
#include "graph/status.h"

namespace sluice {
namespace {

absl::Status NoParcel() {
  return absl::AbortedError("no such message in pieces: it was dropped, or the server restarted");
}

absl::StatusOr<PieceHeader> ReadHeader(SliceReader& in) {
  PieceHeader header;
  if (in.ReadString(PieceHeader::kNameBytes, &header.name) &&
      in.Read(&header.offset, sizeof(header.offset)) &&
      in.Read(&header.bytes, sizeof(header.bytes))) {
    return header;
  }
  return InvalidArgument("damaged message: expected a piece of another");
}

absl::Status OutOfOrder(uint64_t expected, uint64_t got) {
  return InvalidArgument("expected the piece from byte ", expected, ", got the one from byte ",
                         got);
}

}  // namespace

std::string PieceHeader::NewName() {
  std::random_device random;
  std::string name;
  while (name.size() < kNameBytes) name.push_back(static_cast<char>(random()));
  return name;
}

grpc::ByteBuffer PieceHeader::Encode(std::vector<grpc::Slice> content) const {
  std::string text = name;
  text.append(reinterpret_cast<const char*>(&offset), sizeof(offset));
  text.append(reinterpret_cast<const char*>(&bytes), sizeof(bytes));
  content.insert(content.begin(), grpc::Slice(text));
  return grpc::ByteBuffer(content.data(), content.size());
}

Parcels::Parcels(uint64_t max_bytes, Clock::duration kept_for)
    : max_bytes_(max_bytes), kept_for_(kept_for) {}

Parcels::~Parcels() {
  std::unique_lock<std::mutex> lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
  std::thread dropper = std::move(dropper_);
  lock.unlock();
  if (dropper.joinable()) dropper.join();
}

std::vector<RpcMethod> Parcels::Methods() {
  const auto get = [this](RpcCall& call) {
    const absl::StatusOr<grpc::ByteBuffer> piece = Get(&call.request());
    call.Finish(piece.status(), piece.ok() ? *piece : grpc::ByteBuffer());
  };
  const auto put = [this](RpcCall& call) {
    const absl::Status status = Put(&call.request());
    const grpc::Slice empty;
    call.Finish(status, status.ok() ? grpc::ByteBuffer(&empty, 1) : grpc::ByteBuffer());
  };
  return {{kGetPiece, get, /*blocks=*/false}, {kPutPiece, put, /*blocks=*/false}};
}

std::string Parcels::Keep(const grpc::ByteBuffer& answer) {
  std::vector<grpc::Slice> slices;
  if (!answer.Dump(&slices).ok()) slices.clear();
  const std::string name = PieceHeader::NewName();
  std::lock_guard<std::mutex> lock(mutex_);
  Parcel& parcel = parcels_[name];
  for (grpc::Slice& slice : slices) {
    if (slice.size() == 0) continue;
    parcel.end += slice.size();
    parcel.slices.push_back(std::move(slice));
  }
  parcel.bytes = parcel.end;
  Touch(name);
  return StrCat(absl::BytesToHexString(name), " ", parcel.bytes);
}

absl::Status Parcels::Parse(const std::string& told, std::string* name, uint64_t* bytes) {
  const size_t space = told.find(' ');
  *name = absl::HexStringToBytes(told.substr(0, space));
  if (space != std::string::npos && name->size() == PieceHeader::kNameBytes &&
      absl::SimpleAtoi(told.substr(space + 1), bytes)) {
    return absl::OkStatus();
  }
  return InvalidArgument("damaged metadata: expected the name of a message in pieces");
}

absl::StatusOr<grpc::ByteBuffer> Parcels::Get(grpc::ByteBuffer* request) {
  SliceReader in(request);
  SLUICE_ASSIGN_OR_RETURN(const PieceHeader header, ReadHeader(in));
  std::vector<grpc::Slice> piece;
  std::lock_guard<std::mutex> lock(mutex_);
  Parcel* const parcel = Touch(header.name);
  if (parcel == nullptr) return NoParcel();
  if (header.offset != parcel->begin) return OutOfOrder(parcel->begin, header.offset);
  uint64_t left = std::min({header.bytes, parcel->end - parcel->begin, kMostPieceBytes});
  parcel->begin += left;
  while (left > 0) {
    grpc::Slice& front = parcel->slices.front();
    const auto n = static_cast<size_t>(std::min<uint64_t>(left, front.size()));
    piece.push_back(n == front.size() ? front : front.sub(0, n));
    if (n == front.size()) {
      parcel->slices.pop_front();
    } else {
      front = front.sub(n, front.size());
    }
    left -= n;
  }
  if (parcel->begin == parcel->bytes) parcels_.erase(header.name);
  return grpc::ByteBuffer(piece.data(), piece.size());
}

absl::Status Parcels::Put(grpc::ByteBuffer* request) {
  SliceReader in(request);
  SLUICE_ASSIGN_OR_RETURN(const PieceHeader header, ReadHeader(in));
  if (header.bytes > max_bytes_) {
    return absl::ResourceExhaustedError(
        StrCat("Received message larger than max (", header.bytes, " vs. ", max_bytes_, ")"));
  }
  std::lock_guard<std::mutex> lock(mutex_);
  if (header.offset == 0) parcels_[header.name].bytes = header.bytes;
  Parcel* const parcel = Touch(header.name);
  if (parcel == nullptr) return NoParcel();
  if (header.offset != parcel->end) return OutOfOrder(parcel->end, header.offset);
  if (parcel->bytes != header.bytes || in.left() > parcel->bytes - parcel->end) {
    parcels_.erase(header.name);
    return InvalidArgument("expected a message of ", header.bytes, " bytes, got more in pieces");
  }
  std::vector<grpc::Slice> content;
  parcel->end += in.left();
  in.Take(in.left(), &content);
  for (grpc::Slice& slice : content) parcel->slices.push_back(std::move(slice));
  return absl::OkStatus();
}

absl::StatusOr<grpc::ByteBuffer> Parcels::Take(const std::string& name) {
  std::lock_guard<std::mutex> lock(mutex_);
  Parcel* const parcel = Touch(name);
  if (parcel == nullptr) return NoParcel();
  if (parcel->end != parcel->bytes || parcel->begin != 0) {
    return absl::FailedPreconditionError(
        StrCat("a message in pieces: ", parcel->end, " of ", parcel->bytes, " bytes are there"));
  }
  const std::vector<grpc::Slice> slices(parcel->slices.begin(), parcel->slices.end());
  parcels_.erase(name);
  return grpc::ByteBuffer(slices.data(), slices.size());
}

uint64_t Parcels::bytes_kept() {
  std::lock_guard<std::mutex> lock(mutex_);
  uint64_t bytes = 0;
  for (const auto& [name, parcel] : parcels_) bytes += parcel.end - parcel.begin;
  return bytes;
}

Parcels::Parcel* Parcels::Touch(const std::string& name) {
  auto it = parcels_.find(name);
  if (it == parcels_.end()) return nullptr;
  it->second.touched = Clock::now();
  if (!dropper_.joinable() && !stopped_) dropper_ = std::thread([this] { DropOld(); });
  changed_.notify_all();
  return &it->second;
}

void Parcels::DropOld() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stopped_) {
    const Clock::time_point now = Clock::now();
    Clock::time_point next = Clock::time_point::max();
    for (auto it = parcels_.begin(); it != parcels_.end();) {
      const Clock::time_point ends = it->second.touched + kept_for_;
      if (ends <= now) {
        it = parcels_.erase(it);
      } else {
        next = std::min(next, ends);
        ++it;
      }
    }
    if (parcels_.empty()) {
      changed_.wait(lock);
    } else {
      changed_.wait_until(lock, next);
    }
  }
}

}  // namespace sluice
