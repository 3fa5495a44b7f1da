#include "training/input/idx.h"

#include <memory>

#include "graph/build/scopes.h"
#include "graph/status.h"
#include "ops/array/shaping.h"
#include "ops/io/builders.h"
#include "ops/io/byte_source.h"
#include "training/input/input.h"

namespace sluice::input {
namespace {

// Returns the type for a code, which is the third byte of the file.
DataType TypeOf(unsigned char code) {
  switch (code) {
    case 0x08:
      return DT_UINT8;
    case 0x09:
      return DT_INT8;
    case 0x0b:
      return DT_INT16;
    case 0x0c:
      return DT_INT32;
    case 0x0d:
      return DT_FLOAT;
    case 0x0e:
      return DT_DOUBLE;
    default:
      return DT_INVALID;
  }
}

}  // namespace

absl::StatusOr<IdxFile> IdxFile::Open(const std::string& path) {
  IdxFile idx;
  idx.path = path;
  std::string start;
  {
    SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> file, OpenFile(path));
    SLUICE_RETURN_IF_ERROR(file->Read(2, &start));
    idx.is_gzipped = start == "\x1f\x8b";
  }
  SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> file, OpenFile(path));
  file =
      Unpack(std::move(file), idx.is_gzipped ? StreamCompression::kGzip : StreamCompression::kNone);
  std::string magic, sizes;
  SLUICE_RETURN_IF_ERROR(file->Read(4, &magic));
  const auto refuse = [&] { return InvalidArgument("'", path, "': expected an IDX file"); };
  if (magic.size() != 4 || magic[0] != 0 || magic[1] != 0 || magic[3] < 1) return refuse();
  idx.dtype = TypeOf(static_cast<unsigned char>(magic[2]));
  const auto rank = static_cast<size_t>(magic[3]);
  SLUICE_RETURN_IF_ERROR(file->Read(4 * rank, &sizes));
  if (idx.dtype == DT_INVALID || sizes.size() != 4 * rank) return refuse();
  for (size_t i = 0; i < rank; ++i) {
    uint32_t size = 0;
    for (size_t j = 0; j < 4; ++j) size = size << 8 | static_cast<unsigned char>(sizes[4 * i + j]);
    idx.dims.push_back(size);
  }
  // The size of a record is checked too: with no records, the file has no elements of any size.
  const bool fits =
      TensorShape::Make(idx.dims).ok() &&
      TensorShape::Make(std::vector<int64_t>(idx.dims.begin() + 1, idx.dims.end())).ok();
  if (!fits) return refuse();
  return idx;
}

Output IdxFile::Read(Graph& g, const ReadOptions& options, At at) const {
  const NameScope scope(g, options.name.empty() ? "idx" : options.name);
  const Queue files = StringInputProducer(
      g, {path}, {.num_epochs = options.num_epochs, .shuffle = false, .capacity = 1}, at);
  int64_t elements = 1;
  for (size_t i = 1; i < dims.size(); ++i) elements *= dims[i];
  const Output reader =
      FixedLengthRecordReaderV2(g, elements * static_cast<int64_t>(DataTypeSize(dtype)),
                                {.header_bytes = static_cast<int64_t>(4 + 4 * dims.size()),
                                 .encoding = is_gzipped ? "GZIP" : ""},
                                at);
  const Output record = ReaderReadV2(reader, files.handle(), {}, at).value;
  const Output numbers = DecodeRaw(record, dtype, {.little_endian = false}, at);
  return Reshape(numbers, std::vector<int64_t>(dims.begin() + 1, dims.end()), {}, at);
}

}  // namespace sluice::input
