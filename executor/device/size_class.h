// Size classes of the pool's memory blocks (pool_allocator.h). All blocks of a class have the same
// size, so a freed block serves any later request of its class.
#ifndef SLUICE_EXECUTOR_DEVICE_SIZE_CLASS_H_
#define SLUICE_EXECUTOR_DEVICE_SIZE_CLASS_H_

#include <bit>
#include <cstddef>
#include <cstdint>

namespace sluice {

// There is a class for every multiple of 64 bytes up to 1 KB, then 8 classes per doubling up to
// 2^46 bytes.
inline constexpr int kFineClasses = 16;
inline constexpr size_t kFineLimit = 1024;
inline constexpr int kSizeClasses = kFineClasses + 8 * 36;
inline constexpr size_t kLargestBlock = size_t{1} << 46;

// Returns the smallest class whose blocks have at least `bytes` bytes.
constexpr int SizeClassOf(size_t bytes) {
  if (bytes <= kFineLimit) return bytes == 0 ? 0 : static_cast<int>((bytes - 1) / 64);
  const int log = 63 - std::countl_zero(bytes - 1);  // 2^log < bytes <= 2^(log+1)
  const int eighth = static_cast<int>((bytes - 1) >> (log - 3)) & 7;
  return kFineClasses + (log - 10) * 8 + eighth;
}

// Returns the number of bytes of the blocks of a class.
constexpr size_t SizeOfClass(int size_class) {
  if (size_class < kFineClasses) return static_cast<size_t>(size_class + 1) * 64;
  const int log = (size_class - kFineClasses) / 8 + 10;
  const int eighth = (size_class - kFineClasses) % 8;
  return (size_t{1} << log) + (static_cast<size_t>(eighth) + 1) * (size_t{1} << (log - 3));
}

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_DEVICE_SIZE_CLASS_H_
