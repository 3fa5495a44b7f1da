// Arbitrary bytes as checkpoints are read or rejected. Checksums would reject most inputs early, so
// the harness computes the checksums of most contents.
//
// The first byte says what the rest is:
//   0  two bytes with the size of a V2 checkpoint's index, the index, and its data.
//   1  entries of such an index, then one of two empty strings, then the data. An entry begins with
//      the length of its key (one byte) and of its value (two).
//   2  the same entries as a file of the first format.
//   3  one block of a table, of either format.

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "graph/format/checksum.h"
#include "graph/strings.h"
#include "ops/checkpoint/bundle.h"
#include "ops/checkpoint/table.h"
#include "ops/checkpoint/v1.h"
#include "ops/checkpoint/varint.h"

namespace sluice {
namespace {

const std::string& Folder() {
  static const std::string* folder = [] {
    // In memory if possible, because every input is written to files and synced.
    const bool has_memory = FileExists("/dev/shm");
    auto* name =
        new std::string(StrCat(has_memory ? "/dev/shm" : "/tmp", "/checkpoint_fuzz_XXXXXX"));
    if (mkdtemp(name->data()) == nullptr) std::abort();
    return name;
  }();
  return *folder;
}

std::string_view Take(std::string_view* input, size_t n) {
  const std::string_view front = input->substr(0, n);
  input->remove_prefix(front.size());
  return front;
}

size_t TakeNumber(std::string_view* input, size_t bytes) {
  size_t number = 0;
  for (unsigned char c : Take(input, bytes)) number = number << 8 | c;
  return number;
}

void Write(const std::string& path, std::string_view bytes) {
  auto file = FileWriter::Create(path);
  if (!file.ok() || !(*file)->Append(bytes).ok() || !(*file)->SyncAndClose().ok()) std::abort();
}

void WriteTable(const std::string& path, std::string_view* input) {
  std::map<std::string, std::string> entries;
  while (!input->empty()) {
    const size_t key = TakeNumber(input, 1);
    const size_t value = TakeNumber(input, 2);
    if (key == 0 && value == 0) break;
    const std::string name(Take(input, key));
    entries[name] = Take(input, value);
  }
  auto file = FileWriter::Create(path);
  if (!file.ok()) std::abort();
  TableWriter table(file->get(), Compression::kSnappy, 64);
  for (const auto& [key, value] : entries) {
    if (!table.Add(key, value).ok()) std::abort();
  }
  if (!table.Finish().ok() || !(*file)->SyncAndClose().ok()) std::abort();
}

// A block whose first byte selects the compression, and an index that points to it.
std::string TableOfBlock(std::string_view input) {
  const char compression = input.empty() ? 0 : static_cast<char>(input[0] & 3);
  std::string file;
  const auto append = [&](std::string block, char type) {
    block.push_back(type);
    const uint32_t crc = MaskCrc(Crc32c(block));
    block.append(reinterpret_cast<const char*>(&crc), sizeof(crc));
    file += block;
  };
  const std::string block(input.substr(input.empty() ? 0 : 1));
  append(block, compression);
  std::string where;
  AppendVarint(0, &where);
  AppendVarint(block.size(), &where);
  std::string index;
  for (size_t n : {size_t{0}, size_t{1}, where.size()}) AppendVarint(n, &index);
  index += '\xff';
  index += where;
  index.append(std::string_view("\0\0\0\0\1\0\0\0", 8));
  const size_t at = file.size();
  append(index, 0);
  std::string footer;
  for (size_t n : {size_t{0}, size_t{0}, at, index.size()}) AppendVarint(n, &footer);
  footer.resize(40);
  footer += "\x57\xfb\x80\x8b\x24\x75\x47\xdb";
  return file + footer;
}

void ReadBundle(const std::string& prefix) {
  const auto reader = BundleReader::Open(prefix);
  if (!reader.ok()) return;
  for (const std::string& name : (*reader)->names()) {
    (*reader)->Read(name).status().IgnoreError();
    (*reader)->ReadSlice(name, TensorSlice({{0, 1}, {}})).status().IgnoreError();
  }
}

void ReadV1(const std::string& path) {
  const auto reader = V1Reader::Open(path);
  if (!reader.ok()) return;
  for (const std::string& name : reader->names()) {
    const auto entry = reader->Find(name);
    if (!entry.ok()) std::abort();
    reader->ReadSlice(name, TensorSlice::Full(entry->shape.rank())).status().IgnoreError();
  }
}

}  // namespace
}  // namespace sluice

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace sluice;
  std::string_view input(reinterpret_cast<const char*>(bytes), size);
  const std::string prefix = Folder() + "/m";
  const size_t mode = TakeNumber(&input, 1) & 3;
  if (mode == 0) Write(prefix + ".index", Take(&input, TakeNumber(&input, 2)));
  if (mode == 1 || mode == 2) WriteTable(prefix + ".index", &input);
  if (mode == 3) Write(prefix + ".index", TableOfBlock(input));
  Write(BundleDataName(prefix, 0, 1), input);
  ReadBundle(prefix);
  ReadV1(prefix + ".index");
  return 0;
}
