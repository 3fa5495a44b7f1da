// Reads the bytes of a message in order. Unlike protocol buffers' readers it is not limited to 2
// GB.
//
// Thread safety: none. Ownership: holds the message's slices and drops each one that was read.
#ifndef SLUICE_DISTRIBUTED_MESSAGE_SLICE_READER_H_
#define SLUICE_DISTRIBUTED_MESSAGE_SLICE_READER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/slice.h"

namespace sluice {

class SliceReader {
 public:
  // Takes over the slices of `bytes`, which is empty afterwards.
  explicit SliceReader(grpc::ByteBuffer* bytes);

  uint64_t position() const { return position_; }
  uint64_t size() const { return size_; }
  uint64_t left() const { return size_ - position_; }

  // These functions return false if the message ends before the requested bytes, or if a varint is
  // invalid. The position is unspecified then. ReadString and ReadSlices append to `to`.
  bool Read(void* to, uint64_t bytes);
  bool ReadVarint(uint64_t* value);
  bool Skip(uint64_t bytes);
  bool ReadString(uint64_t bytes, std::string* to);
  bool ReadSlices(uint64_t bytes, std::vector<grpc::Slice>* to);  // without copying

  // The slice of the next byte, and the byte's offset in it. Valid if any bytes are left.
  const grpc::Slice& slice() const { return slices_[index_]; }
  size_t offset() const { return offset_; }

 private:
  // Divides the next `bytes` bytes into contiguous pieces. Calls take(size) for each piece, which
  // begins at offset() of slice().
  template <typename F>
  bool ForEachRun(uint64_t bytes, F take);
  void Advance(size_t bytes);

  std::vector<grpc::Slice> slices_;
  size_t index_ = 0;
  size_t offset_ = 0;  // in slices_[index_]
  uint64_t position_ = 0;
  uint64_t size_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_MESSAGE_SLICE_READER_H_
