#include "ops/io/byte_source.h"

#include <zlib.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "executor/files/file_system.h"
#include "graph/status.h"

namespace sluice {
namespace {

constexpr size_t kChunk = size_t{1} << 18;

class FileSource : public ByteSource {
 public:
  explicit FileSource(std::unique_ptr<FileReader> file) : file_(std::move(file)) {}

 protected:
  absl::Status Fill(size_t bytes, std::string* out) override {
    const size_t most = std::clamp(bytes, kChunk, 16 * kChunk);
    // Small files use a few bytes of the chunk. A string would write zeros to all of it.
    const auto chunk = std::make_unique_for_overwrite<char[]>(most);
    const absl::StatusOr<int64_t> n =
        file_->ReadSome(offset_, static_cast<int64_t>(most), chunk.get());
    out->append(chunk.get(), static_cast<size_t>(n.value_or(0)));
    offset_ += n.value_or(0);
    return n.status();
  }

 private:
  const std::unique_ptr<FileReader> file_;
  int64_t offset_ = 0;
};

class StringSource : public ByteSource {
 public:
  explicit StringSource(std::string bytes) : bytes_(std::move(bytes)) {}

 protected:
  absl::Status Fill(size_t bytes, std::string* out) override {
    const size_t n = std::min(std::max(bytes, kChunk), bytes_.size() - used_);
    out->append(bytes_, used_, n);
    used_ += n;
    return absl::OkStatus();
  }

 private:
  const std::string bytes_;
  size_t used_ = 0;
};

class InflateSource : public ByteSource {
 public:
  InflateSource(std::unique_ptr<ByteSource> packed, StreamCompression compression)
      : packed_(std::move(packed)) {
    // zlib expects the binary logarithm of the window size, plus 16 for gzip, or negative for a raw
    // stream.
    const int bits = compression == StreamCompression::kGzip         ? MAX_WBITS + 16
                     : compression == StreamCompression::kRawDeflate ? -MAX_WBITS
                                                                     : MAX_WBITS;
    is_ready_ = inflateInit2(&stream_, bits) == Z_OK;
  }
  ~InflateSource() override {
    if (is_ready_) inflateEnd(&stream_);
  }

 protected:
  absl::Status Fill(size_t bytes, std::string* out) override {
    if (!is_ready_) return absl::ResourceExhaustedError("no memory to decompress a stream");
    const size_t had = out->size();
    out->resize(had + kChunk);
    stream_.next_out = reinterpret_cast<Bytef*>(out->data() + had);
    stream_.avail_out = kChunk;
    absl::Status status;
    while (status.ok() && stream_.avail_out == kChunk && !is_over_) status = Step();
    out->resize(had + kChunk - stream_.avail_out);
    return status;
  }

 private:
  absl::Status Step() {
    if (stream_.avail_in == 0) {
      SLUICE_RETURN_IF_ERROR(packed_->Read(kChunk, &input_));
      stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
      stream_.avail_in = static_cast<uInt>(input_.size());
      if (input_.empty()) {
        is_over_ = true;
        if (in_member_) return absl::DataLossError("compressed stream is truncated");
        return absl::OkStatus();
      }
    }
    in_member_ = true;
    const int result = inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {  // another member may follow
      in_member_ = false;
      inflateReset(&stream_);
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      return absl::DataLossError(StrCat("inflate() failed with error ", result, ": ",
                                        stream_.msg == nullptr ? "" : stream_.msg));
    }
    return absl::OkStatus();
  }

  std::unique_ptr<ByteSource> packed_;
  z_stream stream_ = {};
  std::string input_;
  bool is_ready_ = false;
  bool in_member_ = false;
  bool is_over_ = false;
};

}  // namespace

absl::Status ByteSource::More() {
  if (used_ > 0) {
    buffer_.erase(0, used_);
    used_ = 0;
  }
  const size_t had = buffer_.size();
  SLUICE_RETURN_IF_ERROR(Fill(kChunk, &buffer_));
  at_end_ = buffer_.size() == had;
  return absl::OkStatus();
}

absl::Status ByteSource::Read(size_t bytes, std::string* out) {
  out->clear();
  while (out->size() < bytes) {
    if (used_ == buffer_.size()) {
      if (!at_end_) SLUICE_RETURN_IF_ERROR(More());
      if (at_end_) break;
    }
    const size_t n = std::min(bytes - out->size(), buffer_.size() - used_);
    out->append(buffer_, used_, n);
    used_ += n;
  }
  position_ += static_cast<int64_t>(out->size());
  return absl::OkStatus();
}

absl::StatusOr<bool> ByteSource::ReadLine(std::string* line) {
  line->clear();
  bool any = false;
  while (true) {
    if (used_ == buffer_.size()) {
      if (!at_end_) SLUICE_RETURN_IF_ERROR(More());
      if (at_end_) break;
    }
    any = true;
    const size_t end = buffer_.find('\n', used_);
    const size_t stop = end == std::string::npos ? buffer_.size() : end;
    line->append(buffer_, used_, stop - used_);
    position_ += static_cast<int64_t>(stop - used_);
    used_ = stop;
    if (end != std::string::npos) {
      ++used_;
      ++position_;
      break;
    }
  }
  // TensorFlow drops every '\r' too, not only the last one.
  line->erase(std::remove(line->begin(), line->end(), '\r'), line->end());
  return any;
}

absl::Status ByteSource::ReadAll(std::string* out) {
  out->assign(buffer_, used_, std::string::npos);
  used_ = buffer_.size();
  while (!at_end_) {
    const size_t had = out->size();
    SLUICE_RETURN_IF_ERROR(Fill(kChunk, out));
    at_end_ = out->size() == had;
  }
  position_ += static_cast<int64_t>(out->size());
  return absl::OkStatus();
}

absl::Status ByteSource::Skip(int64_t bytes) {
  std::string skipped;
  while (bytes > 0) {
    const auto n = static_cast<size_t>(std::min<int64_t>(bytes, kChunk));
    SLUICE_RETURN_IF_ERROR(Read(n, &skipped));
    if (skipped.size() < n) return absl::OutOfRangeError("End of file");
    bytes -= static_cast<int64_t>(n);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ByteSource>> OpenFile(const std::string& path) {
  SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<FileReader> file, FileReader::Open(path));
  return std::make_unique<FileSource>(std::move(file));
}

std::unique_ptr<ByteSource> BytesOf(std::string bytes) {
  return std::make_unique<StringSource>(std::move(bytes));
}

absl::StatusOr<StreamCompression> CompressionFromName(const std::string& name) {
  if (name.empty()) return StreamCompression::kNone;
  if (name == "ZLIB") return StreamCompression::kZlib;
  if (name == "GZIP") return StreamCompression::kGzip;
  return InvalidArgument("Unsupported compression_type: ", name,
                         ". It must be '', 'ZLIB' or 'GZIP'.");
}

std::unique_ptr<ByteSource> Unpack(std::unique_ptr<ByteSource> packed,
                                   StreamCompression compression) {
  if (compression == StreamCompression::kNone) return packed;
  return std::make_unique<InflateSource>(std::move(packed), compression);
}

}  // namespace sluice
