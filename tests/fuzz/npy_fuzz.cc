// A .npy file of any bytes is read or refused, and what was read is written again to the same.

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
