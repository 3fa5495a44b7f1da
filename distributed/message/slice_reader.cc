#include "distributed/message/slice_reader.h"

#include <algorithm>
#include <cstring>

#include "distributed/message/bytes.h"

namespace sluice {

SliceReader::SliceReader(grpc::ByteBuffer* bytes) : slices_(SlicesOf(*bytes)) {
  bytes->Clear();
  for (const grpc::Slice& slice : slices_) size_ += slice.size();
  Advance(0);
}

void SliceReader::Advance(size_t bytes) {
  offset_ += bytes;
  position_ += bytes;
  while (index_ < slices_.size() && offset_ == slices_[index_].size()) {
    slices_[index_++] = grpc::Slice();
    offset_ = 0;
  }
}

template <typename F>
bool SliceReader::ForEachRun(uint64_t bytes, F take) {
  if (bytes > left()) return false;
  while (bytes > 0) {
    const auto run = static_cast<size_t>(std::min<uint64_t>(bytes, slice().size() - offset_));
    take(run);
    bytes -= run;
    Advance(run);
  }
  return true;
}

bool SliceReader::Read(void* to, uint64_t bytes) {
  auto* next = static_cast<uint8_t*>(to);
  return ForEachRun(bytes, [&](size_t run) {
    std::memcpy(next, slice().begin() + offset_, run);
    next += run;
  });
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
  return ForEachRun(bytes, [](size_t) {});
}

bool SliceReader::ReadString(uint64_t bytes, std::string* to) {
  if (bytes > left()) return false;  // checked before memory is allocated for them
  const size_t before = to->size();
  to->resize(before + bytes);
  return Read(to->data() + before, bytes);
}

bool SliceReader::ReadSlices(uint64_t bytes, std::vector<grpc::Slice>* to) {
  return ForEachRun(bytes, [&](size_t run) { to->push_back(slice().sub(offset_, offset_ + run)); });
}

}  // namespace sluice
