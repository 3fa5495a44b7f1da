// A map from keys to tuples of tensors, which are inserted component by component. Complete tuples
// are taken in batches, in the order in which their keys arrived. The resource of the op Barrier.
//
// Each tuple has an index: the number of the insertion in which its key appeared first. Only
// insertions with new keys are counted, from the smallest int64 on. All new keys of an insertion
// have the same index.
//
// Thread safety: all methods may be called from any thread.
// Blocking: no method blocks a thread. Callbacks run exactly once, without a lock. Takes end in the
// order of their arrival.
// Errors: CANCELLED if the caller is cancelled, inserts a new key after Close, or closes a closed
// barrier; OUT_OF_RANGE if the barrier is closed and has too few tuples; INVALID_ARGUMENT for wrong
// shapes and for a component that was inserted before. The texts are TensorFlow's. Unlike in
// TensorFlow, Close ends waiting takes that cannot be served any more.
#ifndef SLUICE_OPS_STAGING_BARRIER_H_
#define SLUICE_OPS_STAGING_BARRIER_H_

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/tensor/tensor.h"
#include "ops/staging/attempts.h"

namespace sluice {

struct BarrierSpec {
  std::string name;
  std::vector<DataType> types;      // of the components
  std::vector<TensorShape> shapes;  // of one element of each component
};

class BarrierResource : public Resource, public std::enable_shared_from_this<BarrierResource> {
 public:
  static constexpr const char* kTypeName = "N10tensorflow7barrier7BarrierE";
  struct Batch {
    Tensor indices;
    Tensor keys;
    Tensors components;
  };
  using Taken = std::function<void(absl::StatusOr<Batch>)>;

  explicit BarrierResource(BarrierSpec spec);

  // Inserts row i of `values` as component number `component` of the tuple with key keys[i]. If
  // this fails for a key, the rows of the keys before it stay inserted.
  absl::Status Insert(const Tensor& keys, int64_t component, const Tensor& values);
  // Takes `count` tuples. With `allow_fewer` it takes fewer, but at least one, from a closed
  // barrier.
  void Take(const Caller& caller, int64_t count, bool allow_fewer, Taken taken);
  // Allows no new keys from now on. Tuples that lack components may still be completed, unless
  // `cancel_pending_inserts` drops them.
  absl::Status Close(bool cancel_pending_inserts);

  int64_t ready_size() const;
  int64_t incomplete_size() const;
  const BarrierSpec& spec() const { return spec_; }
  std::string DebugString() const override { return attempts_.Describe(); }

 private:
  struct Element {
    int64_t index = 0;
    std::string key;
    Tensors components;  // uninitialised until they are inserted
  };
  absl::Status InsertLocked(absl::Span<const std::string> keys, size_t component,
                            const Tensor& values) ABSL_EXCLUSIVE_LOCKS_REQUIRED(attempts_.mutex());
  absl::Status InsertOne(absl::Span<const std::string> keys, size_t i, size_t component,
                         const Tensor& values, bool* is_new)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(attempts_.mutex());
  std::optional<absl::Status> TryTake(int64_t count, bool allow_fewer, bool came_after_close,
                                      std::vector<Element>* elements)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(attempts_.mutex());
  absl::Status CloseLocked(bool cancel_pending_inserts)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(attempts_.mutex());
  absl::Status TooFew(int64_t requested, int64_t total) const;
  absl::StatusOr<Batch> Stack(Allocator& allocator, const std::vector<Element>& elements) const;

  const BarrierSpec spec_;
  std::map<std::string, Element> incomplete_ ABSL_GUARDED_BY(attempts_.mutex());
  // By index. Tuples with one index are in the order in which they became complete.
  std::multimap<int64_t, Element> ready_ ABSL_GUARDED_BY(attempts_.mutex());
  int64_t next_index_ ABSL_GUARDED_BY(attempts_.mutex()) = std::numeric_limits<int64_t>::min();
  bool is_closed_ ABSL_GUARDED_BY(attempts_.mutex()) = false;
  bool is_cancelled_ ABSL_GUARDED_BY(attempts_.mutex()) = false;  // Close dropped pending inserts
  Attempts attempts_;
};

}  // namespace sluice

#endif  // SLUICE_OPS_STAGING_BARRIER_H_
