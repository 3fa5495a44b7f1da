#include "ops/io/record_mixer.h"

#include <algorithm>
#include <cmath>

#include "executor/files/files.h"
#include "graph/status.h"

namespace sluice {

RecordMixer::RecordMixer(RecordMixerOptions options)
    : options_(std::move(options)), random_(options_.seed) {}

absl::Status RecordMixer::StartEpoch() {
  SLUICE_ASSIGN_OR_RETURN(std::vector<std::string> files, MatchFiles(options_.file_pattern));
  if (files.empty()) {
    return absl::NotFoundError(StrCat("Found no files at ", options_.file_pattern));
  }
  std::sort(files.begin(), files.end());
  std::shuffle(files.begin(), files.end(), random_);
  const double part =
      std::isfinite(options_.shift) ? options_.shift - std::floor(options_.shift) : 0;
  const auto shift = static_cast<int64_t>(part * static_cast<double>(files.size()));
  std::rotate(files.begin(), files.begin() + shift, files.end());
  std::reverse(files.begin(), files.end());
  waiting_ = std::move(files);
  open_.clear();
  buffer_.clear();
  turn_ = 0;
  records_of_epoch_ = 0;
  in_epoch_ = true;
  return absl::OkStatus();
}

absl::Status RecordMixer::ReadOne() {
  if (static_cast<int64_t>(open_.size()) < options_.files_at_a_time && !waiting_.empty()) {
    SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> file, OpenFile(waiting_.back()));
    waiting_.pop_back();
    open_.emplace_back(Unpack(std::move(file), options_.compression));
    return absl::OkStatus();
  }
  turn_ %= open_.size();
  absl::StatusOr<std::string> record = open_[turn_].Next();
  if (absl::IsOutOfRange(record.status())) {
    open_.erase(open_.begin() + static_cast<int64_t>(turn_));
    return absl::OkStatus();
  }
  SLUICE_RETURN_IF_ERROR(record.status());
  buffer_.push_back(*std::move(record));
  ++records_of_epoch_;
  ++turn_;
  return absl::OkStatus();
}

absl::Status RecordMixer::FillBuffer() {
  if (!in_epoch_) SLUICE_RETURN_IF_ERROR(StartEpoch());
  while (static_cast<int64_t>(buffer_.size()) < options_.buffer_size &&
         !(open_.empty() && waiting_.empty())) {
    SLUICE_RETURN_IF_ERROR(ReadOne());
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> RecordMixer::Next() {
  do {
    if (absl::Status status = FillBuffer(); !status.ok()) {
      in_epoch_ = false;
      return status;
    }
    if (!buffer_.empty()) break;
    in_epoch_ = false;
    if (records_of_epoch_ == 0) {
      return absl::OutOfRangeError(
          StrCat("Found no records in the files at ", options_.file_pattern));
    }
  } while (true);
  const size_t drawn = std::uniform_int_distribution<size_t>(0, buffer_.size() - 1)(random_);
  std::swap(buffer_[drawn], buffer_.back());
  std::string record = std::move(buffer_.back());
  buffer_.pop_back();
  return record;
}

}  // namespace sluice
