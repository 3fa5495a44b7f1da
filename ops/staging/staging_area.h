// A staging area: tuples of tensors on their way from one step to a later one, first in, first out.
// What Stage and Unstage share.
//
// Thread safety: all methods from any thread. Blocking: none blocks a thread; callbacks are called
// exactly once, without a lock.
// Limits: `limits`; one tuple alone never exceeds them.
// Errors: CANCELLED; RESOURCE_EXHAUSTED on a tuple that can never fit; INVALID_ARGUMENT where a
// tuple has other types than are asked for: it stays where it is.
#ifndef SLUICE_OPS_STAGING_STAGING_AREA_H_
#define SLUICE_OPS_STAGING_STAGING_AREA_H_

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"
#include "ops/staging/attempts.h"

namespace sluice {

// 0: no limit.
struct StagingLimits {
  int64_t tuples = 0;
  int64_t bytes = 0;

  // RESOURCE_EXHAUSTED where `bytes_of_tuple` never fit.
  absl::Status Check(int64_t bytes_of_tuple) const;
  bool HaveBytes(int64_t used, int64_t more) const { return bytes == 0 || used + more <= bytes; }
  bool HavePlace(int64_t used) const { return tuples == 0 || used < tuples; }
};

int64_t BytesOf(const Tensor& tensor);

class StagingArea : public Resource, public std::enable_shared_from_this<StagingArea> {
 public:
  static constexpr const char* kTypeName = "N10tensorflow12_GLOBAL__N_16BufferE";
  using Done = Attempts::Done;
  using Taken = std::function<void(absl::StatusOr<Tensors>)>;

  StagingArea(const std::string& name, StagingLimits limits);

  void Put(const Caller& caller, Tensors tuple, Done done);
  // The oldest tuple.
  void Take(const Caller& caller, std::vector<DataType> types, Taken taken);
  // The tuple at `index` (0: the oldest), which stays.
  void Peek(const Caller& caller, int64_t index, std::vector<DataType> types, Taken taken);
  void Clear();
  int64_t size() const;
  std::string DebugString() const override { return attempts_.Describe(); }

 private:
  const StagingLimits limits_;
  std::deque<Tensors> tuples_;  // guarded by attempts_.mutex()
  int64_t bytes_ = 0;           // of tuples_; guarded likewise
  Attempts attempts_;
};

}  // namespace sluice

#endif  // SLUICE_OPS_STAGING_STAGING_AREA_H_
