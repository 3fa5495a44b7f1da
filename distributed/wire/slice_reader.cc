#include "distributed/wire/slice_reader.h"

#include <algorithm>
#include <cstring>

namespace sluice {

SliceReader::SliceReader(grpc::ByteBuffer* bytes) {
  if (bytes->Valid() && !bytes->Dump(&slices_).ok()) slices_.clear();
  bytes->Clear();
  for (const grpc::Slice& slice : slices_) size_ += slice.size();
  Advance(0);
}

void SliceReader::Advance(size_t bytes) {
  at_ += bytes;
  position_ += bytes;
  while (index_ < slices_.size() && at_ == slices_[index_].size()) {
    slices_[index_++] = grpc::Slice();
    at_ = 0;
  }
}

bool SliceReader::Read(void* to, uint64_t bytes) {
  if (bytes > left()) return false;
  auto* next = static_cast<uint8_t*>(to);
  while (bytes > 0) {
    const auto n = static_cast<size_t>(std::min<uint64_t>(bytes, slice().size() - at_));
    std::memcpy(next, slice().begin() + at_, n);
    next += n;
    bytes -= n;
    Advance(n);
  }
  return true;
}

bool SliceReader::ReadString(uint64_t bytes, std::string* to) {
  if (bytes > left()) return false;
  const size_t before = to->size();
  to->resize(before + bytes);
  return Read(to->data() + before, bytes);
}

bool SliceReader::ReadVarint(uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    uint8_t byte;
    if (!Read(&byte, 1)) return false;
    *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool SliceReader::Skip(uint64_t bytes) {
  if (bytes > left()) return false;
  while (bytes > 0) {
    const auto n = static_cast<size_t>(std::min<uint64_t>(bytes, slice().size() - at_));
    bytes -= n;
    Advance(n);
  }
  return true;
}

bool SliceReader::Take(uint64_t bytes, std::vector<grpc::Slice>* to) {
  if (bytes > left()) return false;
  while (bytes > 0) {
    const auto n = static_cast<size_t>(std::min<uint64_t>(bytes, slice().size() - at_));
    to->push_back(slice().sub(at_, at_ + n));
    bytes -= n;
    Advance(n);
  }
  return true;
}

}  // namespace sluice
