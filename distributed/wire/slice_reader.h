// Reads a message's bytes in order, of any length: Protocol Buffers' own readers count in int.
//
// Thread safety: none. Ownership: it holds the slices, and lets go of each one that is read.
#ifndef SLUICE_DISTRIBUTED_WIRE_SLICE_READER_H_
#define SLUICE_DISTRIBUTED_WIRE_SLICE_READER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/slice.h"

namespace sluice {

class SliceReader {
 public:
  // Takes the bytes: `bytes` is empty afterwards.
  explicit SliceReader(grpc::ByteBuffer* bytes);

  uint64_t position() const { return position_; }
  uint64_t size() const { return size_; }
  uint64_t left() const { return size_ - position_; }

  // Each false, with nothing promised about the position, where fewer bytes are left.
  bool Read(void* to, uint64_t bytes);
  bool ReadString(uint64_t bytes, std::string* to);  // appends
  bool ReadVarint(uint64_t* value);
  bool Skip(uint64_t bytes);
  // The next bytes, as they lie; appends.
  bool Take(uint64_t bytes, std::vector<grpc::Slice>* to);

  // The slice that the next byte is in, and where in it; only where something is left.
  const grpc::Slice& slice() const { return slices_[index_]; }
  size_t offset() const { return at_; }

 private:
  void Advance(size_t bytes);

  std::vector<grpc::Slice> slices_;
  size_t index_ = 0;
  size_t at_ = 0;  // in slices_[index_]
  uint64_t position_ = 0;
  uint64_t size_ = 0;
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_WIRE_SLICE_READER_H_
