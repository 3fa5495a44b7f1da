// A map from keys to tuples of tensors: one step stages a tuple and another step takes it. The
// resource of the ops MapStage and MapUnstage. The parts of a tuple (its tensors) may be staged one
// by one. As soon as all parts are there, they may be taken one by one.
//
// Thread safety: all methods may be called from any thread.
// Blocking: no method blocks a thread. Callbacks run exactly once, without a lock.
// Limits: a Put waits until its values fit into `limits.bytes`. A Put of a whole tuple also waits
// while the map has `limits.tuples` complete tuples. A Put of single parts does not.
// Errors: CANCELLED if the caller's step is cancelled while it waits. RESOURCE_EXHAUSTED if the
// values of one Put are larger than the limit of the whole map. INVALID_ARGUMENT if indices are out
// of range or do not ascend, if a part was staged or taken before, or if types differ from the
// requested ones.
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

  // `parts` is the number of tensors in a complete tuple.
  StagingMap(const std::string& name, StagingLimits limits, size_t parts);

  // Stages values[i] as part indices[i] of the tuple `key`. Does nothing if that tuple is complete
  // and `indices` are all parts.
  void Put(const Caller& caller, int64_t key, Indices indices, Tensors values, Done done);
  // Takes the parts `indices` of the tuple `key` as soon as the tuple is complete.
  void Take(const Caller& caller, int64_t key, Indices indices, std::vector<DataType> types,
            Taken taken);
  // Takes the parts `indices` of the complete tuple with the smallest key, as soon as there is one.
  void TakeFirst(const Caller& caller, Indices indices, std::vector<DataType> types, Taken taken);
  // Reads the parts `indices` of the tuple `key` as soon as the tuple is complete. The parts stay
  // in the map.
  void Peek(const Caller& caller, int64_t key, Indices indices, std::vector<DataType> types,
            Taken taken);
  void Clear();
  int64_t size() const;             // complete tuples
  int64_t incomplete_size() const;  // tuples that lack parts
  std::string DebugString() const override { return attempts_.Describe(); }

 private:
  using Parts = std::vector<std::optional<Tensor>>;
  using Tuples = std::map<int64_t, Parts>;
  enum class Use { kTake, kPeek };

  absl::Status CheckIndices(int64_t key, const Indices& indices) const;
  std::optional<absl::Status> TryPut(int64_t key, const Indices& indices, Tensors& values,
                                     int64_t bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(attempts_.mutex());
  // Takes from the tuple with the smallest key if there is no `key`.
  void Get(const Caller& caller, std::optional<int64_t> key, Indices indices,
           std::vector<DataType> types, Use use, Taken taken);
  absl::Status TakeParts(Tuples::iterator tuple, const Indices& indices,
                         const std::vector<DataType>& types, Use use, Tensors* values)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(attempts_.mutex());

  const StagingLimits limits_;
  const size_t parts_;
  Tuples complete_ ABSL_GUARDED_BY(attempts_.mutex());
  Tuples incomplete_ ABSL_GUARDED_BY(attempts_.mutex());
  int64_t bytes_ ABSL_GUARDED_BY(attempts_.mutex()) = 0;  // of all tuples
  Attempts attempts_;
};

// The map of the ordered ops, for which TensorFlow has a separate type. Here all maps are ordered.
class OrderedStagingMap : public StagingMap {
 public:
  static constexpr const char* kTypeName = "N10tensorflow12_GLOBAL__N_110StagingMapILb1EEE";
  using StagingMap::StagingMap;
};

}  // namespace sluice

#endif  // SLUICE_OPS_STAGING_STAGING_MAP_H_
