// Arbitrary bytes as a .npy file are read or rejected. An array that was read is written unchanged.

#include <cstdint>
#include <cstdlib>

#include "tools/npz/npz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto array = sluice::ParseNpy({reinterpret_cast<const char*>(data), size});
  if (!array.ok()) return 0;
  const auto again = sluice::ParseNpy(sluice::FormatNpy(*array));
  if (!again.ok() || again->bytes != array->bytes || again->shape != array->shape) std::abort();
  return 0;
}
