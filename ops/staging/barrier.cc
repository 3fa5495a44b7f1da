#include "ops/staging/barrier.h"

#include <algorithm>

#include "graph/status.h"
#include "graph/tensor/limited_heap.h"
#include "ops/state/tuples.h"

namespace sluice {

BarrierResource::BarrierResource(BarrierSpec spec)
    : spec_(std::move(spec)), attempts_(StrCat("barrier '", spec_.name, "'"), [this] {
        attempts_.mutex().AssertHeld();
        return StrCat(ready_.size(), " ready, ", incomplete_.size(), " incomplete",
                      is_closed_ ? ", closed" : "");
      }) {}

// --- inserting

absl::Status BarrierResource::Insert(const Tensor& keys, int64_t component, const Tensor& values) {
  const int64_t count = keys.num_elements();
  SLUICE_INVALID_IF(keys.rank() != 1 || values.rank() < 1 || values.dim(0) != count,
                    "Expected a vector of keys and a row of values for each, got shapes ",
                    keys.shape().ToString(), " and ", values.shape().ToString());
  SLUICE_INVALID_IF(count > 0 && values.num_elements() == 0,
                    "Tensors with no elements are not supported ", spec_.name, ": received shape ",
                    values.shape().ToString());
  TensorShape element = values.shape();
  element.RemoveDim(0);
  const TensorShape& expected = spec_.shapes[component];
  SLUICE_INVALID_IF(count > 0 && !(element == expected), "Shape mismatch in tuple component ",
                    component, ". Expected ", expected.ToString(), ", got ", element.ToString());
  absl::Status status;
  attempts_.Change([&] {
    attempts_.mutex().AssertHeld();
    status = InsertLocked(keys.flat<std::string>(), static_cast<size_t>(component), values);
  });
  return status;
}

absl::Status BarrierResource::InsertLocked(absl::Span<const std::string> keys, size_t component,
                                           const Tensor& values) {
  if (is_closed_ && (is_cancelled_ || (!keys.empty() && incomplete_.empty()))) {
    return absl::CancelledError(StrCat(
        "Barrier ", spec_.name, " is closed.  Pending enqueues cancelled: ", is_cancelled_ ? 1 : 0,
        ".  Number of new insertions: ", keys.size(),
        ".  Number of incomplete keys: ", incomplete_.size(), "."));
  }
  bool any_new = false;
  absl::Status status;
  for (size_t i = 0; i < keys.size() && status.ok(); ++i) {
    status = InsertOne(keys, i, component, values, &any_new);
  }
  if (any_new) ++next_index_;
  return status;
}

absl::Status BarrierResource::InsertOne(absl::Span<const std::string> keys, size_t i,
                                        size_t component, const Tensor& values, bool* is_new) {
  const std::string& key = keys[i];
  auto found = incomplete_.find(key);
  if (found == incomplete_.end()) {
    if (is_closed_) {
      return absl::CancelledError(StrCat(
          "Barrier ", spec_.name, " is closed, but attempted to insert a brand new key: ", key,
          ".  Pending enqueues cancelled: ", is_cancelled_ ? 1 : 0, ".  Insertion index: ", i,
          ".  Number of incomplete keys: ", incomplete_.size(), "."));
    }
    Element element{.index = next_index_, .key = key, .components = Tensors(spec_.types.size())};
    found = incomplete_.emplace(key, std::move(element)).first;
    *is_new = true;
  }
  Element& element = found->second;
  SLUICE_INVALID_IF(element.components[component].IsInitialized(), "Key ", key,
                    " already has a value for component ", component, " in barrier ", spec_.name);
  const auto row = static_cast<int64_t>(i);
  SLUICE_ASSIGN_OR_RETURN(
      element.components[component],
      values.SliceRows(row, row + 1).Reshaped(spec_.shapes[component]).Clone(LimitedHeap()));
  if (std::all_of(element.components.begin(), element.components.end(),
                  [](const Tensor& t) { return t.IsInitialized(); })) {
    ready_.emplace(element.index, std::move(element));
    incomplete_.erase(found);
  }
  return absl::OkStatus();
}

// --- taking

absl::Status BarrierResource::TooFew(int64_t requested, int64_t total) const {
  return absl::OutOfRangeError(StrCat("Barrier '", spec_.name,
                                      "' is closed and has insufficient elements (requested ",
                                      requested, ", total size ", total, ")"));
}

std::optional<absl::Status> BarrierResource::TryTake(int64_t count, bool allow_fewer,
                                                     bool came_after_close,
                                                     std::vector<Element>* elements) {
  const auto ready = static_cast<int64_t>(ready_.size());
  const auto total = ready + static_cast<int64_t>(incomplete_.size());
  if (is_closed_ && allow_fewer) {
    // A take that came before Close waits, because Close still permits inserts that complete
    // tuples.
    if (!came_after_close && !incomplete_.empty() && ready < count) return std::nullopt;
    if (ready == 0) return TooFew(0, 0);
    count = std::min(count, ready);
  }
  if (is_closed_ && total < std::max<int64_t>(count, 1)) return TooFew(count, total);
  if (ready < count) return std::nullopt;
  for (; count > 0; --count) {
    elements->push_back(std::move(ready_.begin()->second));
    ready_.erase(ready_.begin());
  }
  return absl::OkStatus();
}

void BarrierResource::Take(const Caller& caller, int64_t count, bool allow_fewer, Taken taken) {
  using Elements = std::vector<Element>;
  auto attempt = [this, count, allow_fewer,
                  came_after_close = std::optional<bool>()](Elements* elements) mutable {
    attempts_.mutex().AssertHeld();
    if (!came_after_close.has_value()) came_after_close = is_closed_;
    return TryTake(count, allow_fewer, *came_after_close, elements);
  };
  attempts_.RunFor<Elements>(shared_from_this(), caller, 0, std::move(attempt),
                             [self = shared_from_this(), allocator = caller.allocator,
                              taken = std::move(taken)](absl::StatusOr<Elements> elements) {
                               if (!elements.ok()) return taken(elements.status());
                               taken(self->Stack(*allocator, *elements));
                             });
}

absl::StatusOr<BarrierResource::Batch> BarrierResource::Stack(
    Allocator& allocator, const std::vector<Element>& elements) const {
  Batch batch;
  const TensorShape vector({static_cast<int64_t>(elements.size())});
  SLUICE_ASSIGN_OR_RETURN(batch.indices, Tensor::Allocate(allocator, DT_INT64, vector));
  SLUICE_ASSIGN_OR_RETURN(batch.keys, Tensor::Allocate(allocator, DT_STRING, vector));
  std::vector<Tensors> rows;
  for (size_t i = 0; i < elements.size(); ++i) {
    batch.indices.data<int64_t>()[i] = elements[i].index;
    batch.keys.data<std::string>()[i] = elements[i].key;
    rows.push_back(elements[i].components);
  }
  if (!rows.empty()) {
    SLUICE_ASSIGN_OR_RETURN(batch.components, StackRows(allocator, rows));
    return batch;
  }
  for (size_t c = 0; c < spec_.types.size(); ++c) {
    TensorShape shape({0});
    for (int64_t size : spec_.shapes[c].dims()) shape.AddDim(size);
    batch.components.emplace_back(spec_.types[c], shape);
  }
  return batch;
}

// --- closing

absl::Status BarrierResource::Close(bool cancel_pending_inserts) {
  absl::Status status;
  attempts_.Change([&] {
    attempts_.mutex().AssertHeld();
    status = CloseLocked(cancel_pending_inserts);
  });
  return status;
}

absl::Status BarrierResource::CloseLocked(bool cancel_pending_inserts) {
  if (is_closed_ && (is_cancelled_ || !cancel_pending_inserts)) {
    return absl::CancelledError(StrCat("Barrier '", spec_.name, "' is already closed."));
  }
  is_closed_ = true;
  is_cancelled_ = cancel_pending_inserts;
  if (cancel_pending_inserts) incomplete_.clear();
  return absl::OkStatus();
}

int64_t BarrierResource::ready_size() const {
  ScopedLock lock(&attempts_.mutex());
  return static_cast<int64_t>(ready_.size());
}

int64_t BarrierResource::incomplete_size() const {
  ScopedLock lock(&attempts_.mutex());
  return static_cast<int64_t>(incomplete_.size());
}

}  // namespace sluice
