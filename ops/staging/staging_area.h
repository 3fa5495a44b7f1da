// A first-in, first-out buffer of tuples of tensors: one step stages a tuple and a later step takes
// it. The resource of the ops Stage and Unstage.
//
// Thread safety: all methods may be called from any thread.
// Blocking: no method blocks a thread. Callbacks run exactly once, without a lock.
// Limits: a Put waits until its tuple fits into `limits`.
// Errors: CANCELLED if the caller's step is cancelled while it waits. RESOURCE_EXHAUSTED if a
// single tuple is larger than the limit of the whole area. INVALID_ARGUMENT if the types of a tuple
// differ from the requested ones; the tuple then stays in the area.
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

// Limits of a staging area or map. 0 means no limit.
struct StagingLimits {
  int64_t tuples = 0;
  int64_t bytes = 0;

  // RESOURCE_EXHAUSTED if a single tuple of this size exceeds the limit.
  absl::Status Check(int64_t bytes_of_tuple) const;
  bool HaveBytes(int64_t used, int64_t more) const { return bytes == 0 || used + more <= bytes; }
  bool HavePlace(int64_t used) const { return tuples == 0 || used < tuples; }
};

// Bytes of the elements, including those of strings.
int64_t BytesOf(const Tensor& tensor);
int64_t BytesOf(const Tensors& tuple);

class StagingArea : public Resource, public std::enable_shared_from_this<StagingArea> {
 public:
  static constexpr const char* kTypeName = "N10tensorflow12_GLOBAL__N_16BufferE";
  using Done = Attempts::Done;
  using Taken = std::function<void(absl::StatusOr<Tensors>)>;

  StagingArea(const std::string& name, StagingLimits limits);

  void Put(const Caller& caller, Tensors tuple, Done done);
  // Takes the oldest tuple, as soon as there is one.
  void Take(const Caller& caller, std::vector<DataType> types, Taken taken);
  // Reads the tuple at `index`, where 0 is the oldest, as soon as there are more than `index`
  // tuples. The tuple stays in the area.
  void Peek(const Caller& caller, int64_t index, std::vector<DataType> types, Taken taken);
  void Clear();
  int64_t size() const;
  std::string DebugString() const override { return attempts_.Describe(); }

 private:
  const StagingLimits limits_;
  std::deque<Tensors> tuples_ ABSL_GUARDED_BY(attempts_.mutex());
  int64_t bytes_ ABSL_GUARDED_BY(attempts_.mutex()) = 0;  // of tuples_
  Attempts attempts_;
};

}  // namespace sluice

#endif  // SLUICE_OPS_STAGING_STAGING_AREA_H_
