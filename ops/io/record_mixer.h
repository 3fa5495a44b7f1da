// Reads the records of many files in random order, epoch after epoch.
//
// An epoch has every record once. Its files are shuffled. A few files are open at a time and fill a
// buffer in round-robin order. Records are drawn at random from the buffer. Equal seeds yield the
// same order.
//
// Thread safety: none.
// Errors: NOT_FOUND if no file matches, OUT_OF_RANGE if the files have no records, and errors of
// the files. After an error a new epoch starts.
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
  // Moves this fraction of the shuffled list of files from the beginning of the list to its end.
  double shift = 0;
  int64_t buffer_size = 1;      // at least 1
  int64_t files_at_a_time = 1;  // at least 1
  StreamCompression compression = StreamCompression::kNone;
};

class RecordMixer {
 public:
  explicit RecordMixer(RecordMixerOptions options);
  absl::StatusOr<std::string> Next();

 private:
  absl::Status StartEpoch();
  absl::Status FillBuffer();
  // Reads a record from the next open file. If that is not possible, opens or closes a file.
  absl::Status ReadOne();

  const RecordMixerOptions options_;
  std::mt19937_64 random_;
  bool in_epoch_ = false;
  int64_t records_of_epoch_ = 0;
  std::vector<std::string> waiting_;  // files to open, in reverse order
  std::vector<RecordReader> open_;
  size_t turn_ = 0;  // index in open_
  std::vector<std::string> buffer_;
};

}  // namespace sluice

#endif  // SLUICE_OPS_IO_RECORD_MIXER_H_
