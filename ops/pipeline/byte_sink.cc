#include "ops/pipeline/byte_sink.h"

#include <snappy.h>
#include <zlib.h>

#include <algorithm>
#include <utility>

#include "executor/files/files.h"
#include "graph/status.h"

namespace sluice {
namespace {

// TensorFlow reads snappy blocks up to this size.
constexpr size_t kBlock = size_t{256} << 10;

class FileSink : public ByteSink {
 public:
  explicit FileSink(std::unique_ptr<FileWriter> file) : file_(std::move(file)) {}
  absl::Status Append(std::string_view bytes) override { return file_->Append(bytes); }
  absl::Status Close() override { return file_->SyncAndClose(); }

 private:
  const std::unique_ptr<FileWriter> file_;
};

class DeflateSink : public ByteSink {
 public:
  DeflateSink(std::unique_ptr<FileWriter> file, bool is_gzip) : file_(std::move(file)) {
    constexpr int kGzip = 16, kMemoryLevel = 9;
    is_ready_ =
        deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + (is_gzip ? kGzip : 0),
                     kMemoryLevel, Z_DEFAULT_STRATEGY) == Z_OK;
    buffer_.resize(kBlock);
  }
  ~DeflateSink() override {
    if (is_ready_) deflateEnd(&stream_);
  }

  absl::Status Append(std::string_view bytes) override {
    while (!bytes.empty()) {
      const std::string_view part = bytes.substr(0, kBlock);
      SLUICE_RETURN_IF_ERROR(Deflate(part, Z_NO_FLUSH));
      bytes.remove_prefix(part.size());
    }
    return absl::OkStatus();
  }
  absl::Status Close() override {
    SLUICE_RETURN_IF_ERROR(Deflate({}, Z_FINISH));
    return file_->SyncAndClose();
  }

 private:
  absl::Status Deflate(std::string_view part, int flush) {
    if (!is_ready_) return absl::ResourceExhaustedError("no memory to compress a stream");
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
    stream_.avail_in = static_cast<uInt>(part.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
      stream_.avail_out = static_cast<uInt>(buffer_.size());
      deflate(&stream_, flush);
      SLUICE_RETURN_IF_ERROR(file_->Append({buffer_.data(), buffer_.size() - stream_.avail_out}));
    } while (stream_.avail_out == 0);
    return absl::OkStatus();
  }

  const std::unique_ptr<FileWriter> file_;
  z_stream stream_ = {};
  std::string buffer_;
  bool is_ready_ = false;
};

// Writes blocks that are compressed by snappy. Before each block stands its length in 4 bytes, the
// most significant first.
class SnappySink : public ByteSink {
 public:
  explicit SnappySink(std::unique_ptr<FileWriter> file) : file_(std::move(file)) {}

  absl::Status Append(std::string_view bytes) override {
    while (!bytes.empty()) {
      const std::string_view part = bytes.substr(0, kBlock - buffer_.size());
      buffer_.append(part);
      bytes.remove_prefix(part.size());
      if (buffer_.size() == kBlock) SLUICE_RETURN_IF_ERROR(WriteBlock());
    }
    return absl::OkStatus();
  }
  absl::Status Close() override {
    if (!buffer_.empty()) SLUICE_RETURN_IF_ERROR(WriteBlock());
    return file_->SyncAndClose();
  }

 private:
  absl::Status WriteBlock() {
    std::string block;
    snappy::Compress(buffer_.data(), buffer_.size(), &block);
    buffer_.clear();
    char length[4];
    for (size_t i = 0; i < 4; ++i) length[i] = static_cast<char>(block.size() >> (8 * (3 - i)));
    SLUICE_RETURN_IF_ERROR(file_->Append({length, sizeof length}));
    return file_->Append(block);
  }

  const std::unique_ptr<FileWriter> file_;
  std::string buffer_;
};

class SnappySource : public ByteSource {
 public:
  explicit SnappySource(std::unique_ptr<ByteSource> packed) : packed_(std::move(packed)) {}

 protected:
  absl::Status Fill(size_t, std::string* out) override {
    const size_t had = out->size();
    // Skips empty blocks, because a call that returns no bytes would signal the end of the stream.
    for (bool any = true; any && out->size() == had;) {
      SLUICE_ASSIGN_OR_RETURN(any, ReadBlock(out));
    }
    return absl::OkStatus();
  }

 private:
  // Appends the bytes of the next block. Returns false at the end.
  absl::StatusOr<bool> ReadBlock(std::string* out) {
    const absl::Status broken = absl::DataLossError("the snappy stream is damaged or truncated");
    std::string header, block, plain;
    SLUICE_RETURN_IF_ERROR(packed_->Read(4, &header));
    if (header.empty()) return false;
    if (header.size() < 4) return broken;
    size_t length = 0;
    for (char c : header) length = length << 8 | static_cast<unsigned char>(c);
    SLUICE_RETURN_IF_ERROR(packed_->Read(length, &block));
    size_t plain_length = 0;
    // Rejects lengths that no valid block can have, so that a damaged block causes no large
    // allocation. In snappy's format, a copy of 64 bytes takes at least three bytes.
    constexpr size_t kMostPerByte = 32;
    if (block.size() < length ||
        !snappy::GetUncompressedLength(block.data(), block.size(), &plain_length) ||
        plain_length > kMostPerByte * block.size() ||
        !snappy::Uncompress(block.data(), block.size(), &plain)) {
      return broken;
    }
    out->append(plain);
    return true;
  }

  const std::unique_ptr<ByteSource> packed_;
};

}  // namespace

absl::StatusOr<FileCompression> FileCompressionFromName(const std::string& name) {
  if (name.empty()) return FileCompression::kNone;
  if (name == "ZLIB") return FileCompression::kZlib;
  if (name == "GZIP") return FileCompression::kGzip;
  if (name == "SNAPPY") return FileCompression::kSnappy;
  return InvalidArgument("compression must be either '', 'ZLIB', 'GZIP' or 'SNAPPY', got '", name,
                         "'.");
}

absl::StatusOr<std::unique_ptr<ByteSink>> CreateSink(const std::string& path,
                                                     FileCompression compression) {
  SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<FileWriter> file, FileWriter::Create(path));
  switch (compression) {
    case FileCompression::kNone:
      return std::make_unique<FileSink>(std::move(file));
    case FileCompression::kSnappy:
      return std::make_unique<SnappySink>(std::move(file));
    default:
      return std::make_unique<DeflateSink>(std::move(file), compression == FileCompression::kGzip);
  }
}

absl::StatusOr<std::unique_ptr<ByteSource>> OpenSource(const std::string& path,
                                                       FileCompression compression) {
  SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> file, OpenFile(path));
  switch (compression) {
    case FileCompression::kZlib:
      return Unpack(std::move(file), StreamCompression::kZlib);
    case FileCompression::kGzip:
      return Unpack(std::move(file), StreamCompression::kGzip);
    case FileCompression::kSnappy:
      return std::make_unique<SnappySource>(std::move(file));
    default:
      return file;
  }
}

}  // namespace sluice
