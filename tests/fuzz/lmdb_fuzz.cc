// Arbitrary bytes as an LMDB database are read to the end or rejected.

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include "graph/strings.h"
#include "ops/io/lmdb_database.h"

namespace {

const std::string& File() {
  static const std::string* path = [] {
    const bool has_memory = access("/dev/shm", W_OK) == 0;
    auto* name =
        new std::string(sluice::StrCat(has_memory ? "/dev/shm" : "/tmp", "/lmdb_fuzz_XXXXXX"));
    const int fd = mkstemp(name->data());
    if (fd < 0) std::abort();
    close(fd);
    return name;
  }();
  return *path;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::ofstream(File(), std::ios::binary | std::ios::trunc)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  const auto database = sluice::LmdbDatabase::Open(File());
  if (!database.ok()) return 0;
  std::string key, value;
  size_t pairs = 0;
  while (true) {
    const absl::StatusOr<bool> any = (*database)->Next(&key, &value);
    if (!any.ok() || !*any) return 0;
    // Each page is read once, and each pair has an offset of two bytes in it.
    if (++pairs > size) std::abort();
  }
}
