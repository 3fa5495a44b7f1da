// Arbitrary bytes as a record file, compressed or not, are read to the end or rejected. Memory
// grows only with existing data.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "ops/io/record_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using sluice::StreamCompression;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  for (StreamCompression c :
       {StreamCompression::kNone, StreamCompression::kZlib, StreamCompression::kGzip}) {
    sluice::RecordReader reader(sluice::Unpack(sluice::BytesOf(bytes), c));
    absl::StatusOr<std::string> record;
    size_t total = 0;
    while (total < (size_t{1} << 24) && (record = reader.Next()).ok()) {
      total += record->size() + 16;
      // Framing a record again gives the same bytes.
      const sluice::RecordFrame frame(*record);
      if (frame.header().size() != 12 || frame.footer().size() != 4) std::abort();
    }
  }
  std::string line;
  const auto lines = sluice::BytesOf(bytes);
  while (true) {
    const absl::StatusOr<bool> any = lines->ReadLine(&line);
    if (!any.ok() || !*any) break;
  }
  if (lines->position() != static_cast<int64_t>(size)) std::abort();
  return 0;
}
