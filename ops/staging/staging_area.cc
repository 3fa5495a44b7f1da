#include "ops/staging/staging_area.h"

#include "graph/status.h"

namespace sluice {
namespace {

constexpr int kPutting = 0;
constexpr int kTaking = 1;

absl::Status CheckTypes(const Tensors& tuple, const std::vector<DataType>& types) {
  SLUICE_INVALID_IF(tuple.size() != types.size(), "Mismatch stage/unstage: ", tuple.size(), " vs. ",
                    types.size());
  for (size_t i = 0; i < types.size(); ++i) {
    if (tuple[i].dtype() == types[i]) continue;
    return InvalidArgument("Mismatch stage/unstage: component ", i, " is ",
                           DataTypeName(tuple[i].dtype()), ", asked for ", DataTypeName(types[i]));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status StagingLimits::Check(int64_t bytes_of_tuple) const {
  if (HaveBytes(0, bytes_of_tuple)) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      StrCat("Attempted to insert tensors with combined size of '", bytes_of_tuple,
             "' bytes into Staging Area with a memory limit of '", bytes, "'."));
}

int64_t BytesOf(const Tensor& tensor) {
  auto bytes = static_cast<int64_t>(tensor.bytes());
  if (tensor.dtype() == DT_STRING) {
    for (const std::string& s : tensor.flat<std::string>()) bytes += static_cast<int64_t>(s.size());
  }
  return bytes;
}

int64_t BytesOf(const Tensors& tuple) {
  int64_t bytes = 0;
  for (const Tensor& t : tuple) bytes += BytesOf(t);
  return bytes;
}

StagingArea::StagingArea(const std::string& name, StagingLimits limits)
    : limits_(limits), attempts_(StrCat("staging area '", name, "'"), [this] {
        attempts_.mutex().AssertHeld();
        return StrCat(tuples_.size(), " tuples, ", bytes_, " bytes");
      }) {}

void StagingArea::Put(const Caller& caller, Tensors tuple, Done done) {
  const int64_t bytes = BytesOf(tuple);
  if (absl::Status fits = limits_.Check(bytes); !fits.ok()) return done(std::move(fits));
  auto attempt = [this, bytes, tuple = std::move(tuple)]() mutable -> std::optional<absl::Status> {
    attempts_.mutex().AssertHeld();
    if (!limits_.HavePlace(static_cast<int64_t>(tuples_.size())) ||
        !limits_.HaveBytes(bytes_, bytes)) {
      return std::nullopt;
    }
    bytes_ += bytes;
    tuples_.push_back(std::move(tuple));
    return absl::OkStatus();
  };
  attempts_.Run(shared_from_this(), caller, kPutting, std::move(attempt), std::move(done));
}

void StagingArea::Take(const Caller& caller, std::vector<DataType> types, Taken taken) {
  auto attempt = [this, types = std::move(types)](Tensors* found) -> std::optional<absl::Status> {
    attempts_.mutex().AssertHeld();
    if (tuples_.empty()) return std::nullopt;
    SLUICE_RETURN_IF_ERROR(CheckTypes(tuples_.front(), types));
    *found = std::move(tuples_.front());
    tuples_.pop_front();
    bytes_ -= BytesOf(*found);
    return absl::OkStatus();
  };
  attempts_.RunFor<Tensors>(shared_from_this(), caller, kTaking, std::move(attempt),
                            std::move(taken));
}

void StagingArea::Peek(const Caller& caller, int64_t index, std::vector<DataType> types,
                       Taken taken) {
  auto attempt = [this, index,
                  types = std::move(types)](Tensors* found) -> std::optional<absl::Status> {
    attempts_.mutex().AssertHeld();
    if (index >= static_cast<int64_t>(tuples_.size())) return std::nullopt;
    *found = tuples_[static_cast<size_t>(index)];
    return CheckTypes(*found, types);
  };
  attempts_.RunFor<Tensors>(shared_from_this(), caller, Attempts::kNoLine, std::move(attempt),
                            std::move(taken));
}

void StagingArea::Clear() {
  attempts_.Change([this] {
    attempts_.mutex().AssertHeld();
    tuples_.clear();
    bytes_ = 0;
  });
}

int64_t StagingArea::size() const {
  ScopedLock lock(&attempts_.mutex());
  return static_cast<int64_t>(tuples_.size());
}

}  // namespace sluice
