// A barrier: tuples under keys, put together component by component, and taken out in batches once
// they are whole, in the order in which their keys came.
//
// Keys that came first with one call have the same index; it counts the calls that brought new
// keys, from the smallest int64 on.
//
// Thread safety: all methods from any thread. Blocking: none blocks a thread; callbacks are called
// exactly once, without a lock. Takes end in the order in which they came.
// Errors: CANCELLED when closed (inserting) or when the caller is cancelled; OUT_OF_RANGE when
// closed with too few elements left; INVALID_ARGUMENT on wrong shapes and on a component that is
// there already. Texts are TensorFlow's. Different from it: takes that wait when the barrier is
// closed, and cannot be served any more, end.
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
  std::vector<TensorShape> shapes;  // of one element of each
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

  // Row i of `values` is the component of the tuple `keys[i]`. What was inserted before a key that
  // cannot be stays.
  absl::Status Insert(const Tensor& keys, int64_t component, const Tensor& values);
  // `count` tuples; `fewer_will_do`, but not none, once the barrier is closed.
  void Take(const Caller& caller, int64_t count, bool fewer_will_do, Taken taken);
  // No new keys any more; with `cancel_pending_inserts` those that lack components are given up.
  absl::Status Close(bool cancel_pending_inserts);

  int64_t ready_size() const;
  int64_t incomplete_size() const;
  const BarrierSpec& spec() const { return spec_; }
  std::string DebugString() const override { return attempts_.Describe(); }

 private:
  struct Element {
    int64_t index = 0;
    std::string key;
    Tensors components;  // uninitialised: not there yet
  };
  // Lock held, all of them.
  absl::Status InsertLocked(absl::Span<const std::string> keys, size_t component,
                            const Tensor& values);
  absl::Status InsertOne(absl::Span<const std::string> keys, size_t i, size_t component,
                         const Tensor& values, bool* is_new);
  std::optional<absl::Status> TryTake(int64_t count, bool fewer_will_do, bool came_after_close,
                                      std::vector<Element>* elements);
  std::vector<Element> TakeReady(int64_t count);
  absl::Status TooFew(int64_t requested, int64_t total) const;
  // Lock not held.
  absl::StatusOr<Batch> Stack(const Caller& caller, const std::vector<Element>& elements) const;

  const BarrierSpec spec_;
  // All guarded by attempts_.mutex().
  std::map<std::string, Element> incomplete_;
  std::multimap<int64_t, Element> ready_;  // by index; those of one index as they became whole
  int64_t next_index_ = std::numeric_limits<int64_t>::min();
  bool is_closed_ = false;
  bool is_cancelled_ = false;  // closed with cancel_pending_inserts
  Attempts attempts_;
};

}  // namespace sluice

#endif  // SLUICE_OPS_STAGING_BARRIER_H_
