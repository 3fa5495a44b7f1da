// Tuples of tensors under keys, on their way from one step to another. A tuple may be put together
// part by part, and taken apart likewise; it can be taken once it is whole.
//
// Thread safety: all methods from any thread. Blocking: none blocks a thread; callbacks are called
// exactly once, without a lock.
// Limits: `limits`; the number of tuples counts whole ones only.
// Errors: CANCELLED; RESOURCE_EXHAUSTED on values that can never fit; INVALID_ARGUMENT on indices
// that do not ascend or lie outside, on a part that is there already or no more.
#ifndef SLUICE_OPS_STAGING_STAGING_MAP_H_
#define SLUICE_OPS_STAGING_STAGING_MAP_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/tensor/tensor.h"
#include "ops/staging/attempts.h"
#include "ops/staging/staging_area.h"

namespace sluice {

class StagingMap : public Resource, public std::enable_shared_from_this<StagingMap> {
 public:
  static constexpr const char* kTypeName = "N10tensorflow12_GLOBAL__N_110StagingMapILb0EEE";
  using Done = Attempts::Done;
  struct Entry {
    int64_t key = 0;
    Tensors values;
  };
  using Taken = std::function<void(absl::StatusOr<Entry>)>;
  using Indices = std::vector<int32_t>;

  // `parts` is the number of tensors of a whole tuple.
  StagingMap(const std::string& name, StagingLimits limits, size_t parts);

  // Part indices[i] of the tuple `key` is values[i]. Of a whole tuple that is there already the
  // first stays.
  void Put(const Caller& caller, int64_t key, Indices indices, Tensors values, Done done);
  // These parts of the tuple `key`, once it is whole; what was taken of it is no more.
  void Take(const Caller& caller, int64_t key, Indices indices, std::vector<DataType> types,
            Taken taken);
  // The same of the tuple with the smallest key.
  void TakeFirst(const Caller& caller, Indices indices, std::vector<DataType> types, Taken taken);
  void Peek(const Caller& caller, int64_t key, Indices indices, std::vector<DataType> types,
            Taken taken);
  void Clear();
  int64_t size() const;             // whole tuples
  int64_t incomplete_size() const;  // others
  std::string DebugString() const override { return attempts_.Describe(); }

 private:
  using Parts = std::vector<std::optional<Tensor>>;
  using Tuples = std::map<int64_t, Parts>;
  enum class Use { kTake, kPeek };

  absl::Status CheckIndices(int64_t key, const Indices& indices) const;
  std::optional<absl::Status> TryPut(int64_t key, const Indices& indices, Tensors& values,
                                     int64_t bytes);
  // `key` without a value: the smallest one.
  void Get(const Caller& caller, std::optional<int64_t> key, Indices indices,
           std::vector<DataType> types, Use use, Taken taken);
  absl::Status TakeParts(Tuples::iterator tuple, const Indices& indices,
                         const std::vector<DataType>& types, Use use, Tensors* values);

  const StagingLimits limits_;
  const size_t parts_;
  // All guarded by attempts_.mutex().
  Tuples whole_;
  Tuples incomplete_;
  int64_t bytes_ = 0;  // of both
  Attempts attempts_;
};

// Another kind in TensorFlow, where only this one has an order.
class OrderedStagingMap : public StagingMap {
 public:
  static constexpr const char* kTypeName = "N10tensorflow12_GLOBAL__N_110StagingMapILb1EEE";
  using StagingMap::StagingMap;
};

}  // namespace sluice

#endif  // SLUICE_OPS_STAGING_STAGING_MAP_H_
