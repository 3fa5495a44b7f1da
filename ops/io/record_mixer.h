// Records of many files in random order, epoch after epoch.
//
// An epoch gives out every record once. Its files are shuffled; some are read at a time, in turns,
// into a buffer out of which records are drawn at random. The same seed gives the same order.
//
// Thread safety: none. Errors: NOT_FOUND where no file matches; those of the files, after which it
// starts a new epoch.
#ifndef SLUICE_OPS_IO_RECORD_MIXER_H_
#define SLUICE_OPS_IO_RECORD_MIXER_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ops/io/byte_source.h"
#include "ops/io/record_file.h"

namespace sluice {

struct RecordMixerOptions {
  std::string file_pattern;
  uint64_t seed = 0;
  double shift = 0;             // of the files: which part of them goes to the end
  int64_t buffer_size = 1;      // at least one
  int64_t files_at_a_time = 1;  // likewise
  StreamCompression compression = StreamCompression::kNone;
};

class RecordMixer {
 public:
  explicit RecordMixer(RecordMixerOptions options);
  absl::StatusOr<std::string> Next();

 private:
  absl::Status StartEpoch();
  absl::Status FillBuffer();
  // One record of the next open file; opens another, or drops one that is over.
  absl::Status ReadOne();

  const RecordMixerOptions options_;
  std::mt19937_64 random_;
  bool in_epoch_ = false;
  int64_t records_of_epoch_ = 0;
  std::vector<std::string> waiting_;  // files still to be opened, the next one last
  std::vector<RecordReader> open_;
  size_t turn_ = 0;  // of open_
  std::vector<std::string> buffer_;
};

}  // namespace sluice

#endif  // SLUICE_OPS_IO_RECORD_MIXER_H_
