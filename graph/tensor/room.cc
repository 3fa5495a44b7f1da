#include "graph/tensor/room.h"

#include "graph/strings.h"
#include "graph/tensor/buffer.h"

namespace sluice {

absl::Status CheckRoom(int64_t count, size_t bytes, std::string_view what) {
  constexpr int64_t kAlwaysThere = int64_t{1} << 16;
  int64_t all;
  if (!__builtin_mul_overflow(count, static_cast<int64_t>(bytes), &all)) {
    if (all >= 0 && all <= kAlwaysThere) return absl::OkStatus();
    if (Buffer* block = Buffer::New(Heap(), DT_INT8, all)) {
      block->Unref();
      return absl::OkStatus();
    }
  }
  return absl::ResourceExhaustedError(
      StrCat("expected memory for ", count, " ", what, ", got none"));
}

}  // namespace sluice
