#include "ops/dataflow/queue.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "graph/status.h"
#include "ops/state/arguments.h"
#include "ops/state/tuples.h"

namespace sluice {
namespace {

absl::Status PutCancelled() { return absl::CancelledError("Enqueue operation was cancelled"); }
absl::Status TakeCancelled() { return absl::CancelledError("Dequeue operation was cancelled"); }

absl::Status CheckTypes(const Tensors& tuple, const std::vector<DataType>& types) {
  SLUICE_INVALID_IF(tuple.size() != types.size(), "Wrong number of components in tuple. Expected ",
                    types.size(), ", got ", tuple.size());
  for (size_t i = 0; i < tuple.size(); ++i) {
    if (tuple[i].dtype() == types[i]) continue;
    return InvalidArgument("Type mismatch in tuple component ", i, ". Expected ",
                           DataTypeName(types[i]), ", got ", DataTypeName(tuple[i].dtype()));
  }
  return absl::OkStatus();
}

}  // namespace

QueueResource::QueueResource(QueueSpec options)
    : options_([&] {
        if (options.capacity < 0) options.capacity = std::numeric_limits<int32_t>::max();
        return std::move(options);
      }()) {}

// --- the lines

void QueueResource::Submit(Attempt attempt) {
  Line complete;
  {
    ScopedLock lock(&mutex_);
    Line& line = attempt.action == Action::kTake ? taking_ : putting_;
    const int64_t id = attempt.id = next_id_++;
    line.push_back(std::move(attempt));
    TryLines(&complete);
    // If the attempt waits, it is the last one, because TryLines keeps the order of waiting
    // attempts.
    if (!line.empty() && line.back().id == id) {
      Attempt& blocked = line.back();
      const auto self = shared_from_this();
      const bool waits = blocked.wait.Start(
          blocked.caller, StrCat("queue '", options_.name, "'"), [self, id] { self->Cancel(id); },
          [self, id] { return self->DescribeAttempt(id); });
      if (!waits) CancelAttempt(line, std::prev(line.end()), &complete);
    }
  }
  Finish(std::move(complete));
}

void QueueResource::TryLines(Line* complete) {
  bool moved = true;
  while (moved) {
    moved = TryLine(putting_, complete);
    if (TryLine(taking_, complete)) moved = true;
  }
}

bool QueueResource::TryLine(Line& line, Line* complete) {
  bool moved = false;
  while (!line.empty()) {
    Attempt& head = line.front();
    const Progress progress = head.action == Action::kPut     ? TryPut(head)
                              : head.action == Action::kClose ? TryClose(head)
                                                              : TryTake(head);
    moved = moved || progress != Progress::kNone;
    if (progress != Progress::kComplete) break;
    complete->splice(complete->end(), line, line.begin());
  }
  return moved;
}

QueueResource::Progress QueueResource::TryPut(Attempt& attempt) {
  if (closed_) {
    attempt.status =
        absl::CancelledError(StrCat(kind_of_one(), " '", options_.name, "' is closed."));
    return Progress::kComplete;
  }
  Progress progress = Progress::kNone;
  if (std::exchange(attempt.replaces, false)) {
    while (Count() > 0) Take();
    progress = Progress::kSome;
  }
  while (!attempt.rows.empty()) {
    if (Count() >= options_.capacity) return progress;
    progress = Progress::kSome;
    Put(std::move(attempt.rows.back()));
    attempt.rows.pop_back();
  }
  return Progress::kComplete;
}

QueueResource::Progress QueueResource::TryClose(Attempt& attempt) {
  if (closed_) {
    attempt.status = absl::CancelledError(StrCat("Queue '", options_.name, "' is already closed."));
  }
  closed_ = true;
  if (reason_.empty()) reason_ = attempt.reason;
  return Progress::kComplete;
}

QueueResource::Progress QueueResource::TryTake(Attempt& attempt) {
  const int64_t count = Count();
  if (closed_ && count < attempt.missing) {
    const int64_t missing = attempt.missing;
    // Returns the elements that the attempt already holds, because they count as elements of the
    // queue.
    PutBack(std::exchange(attempt.rows, {}));
    if (!attempt.allow_fewer || Count() == 0) {
      attempt.status = absl::OutOfRangeError(
          StrCat(attempt.is_many ? options_.kind : kind_of_one(), " '", options_.name,
                 "' is closed and has insufficient elements (requested ", missing,
                 ", current size ", count, ")", reason_.empty() ? "" : ": ", reason_));
      return Progress::kComplete;
    }
    attempt.missing = Count();
  }
  Progress progress = Progress::kNone;
  while (Available(closed_) > 0) {
    progress = Progress::kSome;
    attempt.rows.push_back(Take());
    if (--attempt.missing > 0) continue;
    if (attempt.is_many) Completed(attempt.rows);
    return Progress::kComplete;
  }
  return progress;
}

void QueueResource::CancelAttempt(Line& line, Line::iterator attempt, Line* complete) {
  const bool takes = attempt->action == Action::kTake;
  if (takes) PutBack(std::exchange(attempt->rows, {}));
  attempt->status = takes ? TakeCancelled() : PutCancelled();
  complete->splice(complete->end(), line, attempt);
  TryLines(complete);
}

void QueueResource::Cancel(int64_t id) {
  Line complete;
  {
    ScopedLock lock(&mutex_);
    for (Line* line : {&putting_, &taking_}) {
      const auto found =
          std::find_if(line->begin(), line->end(), [id](const Attempt& a) { return a.id == id; });
      if (found == line->end()) continue;
      CancelAttempt(*line, found, &complete);
      break;
    }
  }
  Finish(std::move(complete));
}

void QueueResource::Change(const absl::Status& takers_end, const std::function<void()>& change) {
  Line complete;
  {
    ScopedLock lock(&mutex_);
    if (!taking_.empty()) {
      Attempt& head = taking_.front();
      head.missing += static_cast<int64_t>(head.rows.size());
      PutBack(std::exchange(head.rows, {}));
    }
    if (!takers_end.ok()) {
      for (Attempt& taker : taking_) taker.status = takers_end;
      complete.splice(complete.end(), taking_);
    }
    change();
    TryLines(&complete);
  }
  Finish(std::move(complete));
}

void QueueResource::Finish(Line complete) {
  for (Attempt& attempt : complete) {
    attempt.wait.End();
    if (attempt.action != Action::kTake) {
      attempt.done(std::move(attempt.status));
    } else if (!attempt.status.ok()) {
      attempt.taken(std::move(attempt.status));
    } else if (!attempt.is_many) {
      attempt.taken(std::move(attempt.rows[0]));
    } else {
      attempt.taken(Stack(*attempt.caller.allocator, std::move(attempt.rows)));
    }
  }
}

// --- calls

bool QueueResource::PutAtOnce(Tensors& element) {
  ScopedLock lock(&mutex_);
  if (closed_ || !putting_.empty() || !taking_.empty() || Count() >= options_.capacity) {
    return false;
  }
  Put(std::move(element));
  return true;
}

std::optional<Tensors> QueueResource::DequeueAtOnce(const Caller& caller) {
  if (caller.IsCancelled()) return std::nullopt;
  ScopedLock lock(&mutex_);
  if (!putting_.empty() || !taking_.empty() || Available(closed_) == 0) return std::nullopt;
  return Take();
}

void QueueResource::Enqueue(const Caller& caller, Tensors element, Done done) {
  if (absl::Status status = CheckElement(element); !status.ok()) return done(std::move(status));
  if (caller.IsCancelled()) return done(PutCancelled());
  if (PutAtOnce(element)) return done(absl::OkStatus());
  Attempt attempt{.action = Action::kPut, .caller = caller, .done = std::move(done)};
  attempt.rows.push_back(std::move(element));
  Submit(std::move(attempt));
}

void QueueResource::EnqueueMany(const Caller& caller, Tensors batch, Done done, bool replaces) {
  if (absl::Status status = CheckBatch(batch); !status.ok()) return done(std::move(status));
  if (caller.IsCancelled()) return done(PutCancelled());
  absl::StatusOr<std::vector<Tensors>> rows = SplitRows(*caller.allocator, batch);
  if (!rows.ok()) return done(rows.status());
  if (rows->empty() && !replaces) return done(absl::OkStatus());
  std::reverse(rows->begin(), rows->end());
  Submit({.action = Action::kPut,
          .caller = caller,
          .rows = *std::move(rows),
          .is_many = true,
          .replaces = replaces,
          .done = std::move(done)});
}

void QueueResource::Dequeue(const Caller& caller, Taken taken) {
  if (caller.IsCancelled()) return taken(TakeCancelled());
  Submit({.action = Action::kTake, .caller = caller, .missing = 1, .taken = std::move(taken)});
}

void QueueResource::DequeueMany(const Caller& caller, int64_t count, Taken taken,
                                bool allow_fewer) {
  if (!HasShapes()) {
    return taken(InvalidArgument(
        options_.kind,
        "'s DequeueMany and DequeueUpTo require the components to have specified shapes."));
  }
  if (count == 0) return taken(EmptyBatch());
  if (caller.IsCancelled()) return taken(TakeCancelled());
  Submit({.action = Action::kTake,
          .caller = caller,
          .missing = count,
          .is_many = true,
          .allow_fewer = allow_fewer,
          .taken = std::move(taken)});
}

void QueueResource::Close(const Caller& caller, bool cancel_pending_enqueues, Done done,
                          const std::string& reason) {
  if (!cancel_pending_enqueues) {
    Attempt attempt = {.action = Action::kClose, .caller = caller, .done = std::move(done)};
    attempt.reason = reason;
    return Submit(std::move(attempt));
  }
  Line complete;
  {
    ScopedLock lock(&mutex_);
    closed_ = true;
    if (reason_.empty()) reason_ = reason;
    for (Attempt& a : putting_) a.status = PutCancelled();
    complete.splice(complete.end(), putting_);
    TryLines(&complete);
  }
  Finish(std::move(complete));
  done(absl::OkStatus());
}

bool QueueResource::is_closed() const {
  ScopedLock lock(&mutex_);
  return closed_;
}

int64_t QueueResource::size() const {
  ScopedLock lock(&mutex_);
  return Count();
}

// --- checks and results

bool QueueResource::HasShapes() const { return !options_.shapes.empty() || options_.types.empty(); }

absl::Status QueueResource::CheckElement(const Tensors& element) const {
  SLUICE_RETURN_IF_ERROR(CheckTypes(element, options_.types));
  for (size_t i = 0; i < options_.shapes.size(); ++i) {
    if (options_.shapes[i].IsCompatibleWith(element[i].shape())) continue;
    return InvalidArgument("Shape mismatch in tuple component ", i, ". Expected ",
                           options_.shapes[i].ToString(), ", got ", element[i].shape().ToString());
  }
  return absl::OkStatus();
}

absl::Status QueueResource::CheckBatch(const Tensors& batch) const {
  SLUICE_RETURN_IF_ERROR(CheckTypes(batch, options_.types));
  if (batch.empty()) return absl::OkStatus();
  for (size_t i = 0; i < batch.size(); ++i) {
    if (batch[i].rank() > 0) continue;
    return InvalidArgument("Shape mismatch in tuple component ", i,
                           ". Expected a batch of elements, got ", batch[i].shape().ToString());
  }
  const int64_t rows = batch[0].dim(0);
  for (size_t i = 0; i < batch.size(); ++i) {
    if (options_.shapes.empty()) {
      if (batch[i].dim(0) == rows) continue;
      return InvalidArgument(
          "All input tensors must have the same size in the 0th dimension. Component ", i, " has ",
          batch[i].dim(0), ", and should have ", rows);
    }
    const PartialShape expected = PartialShape({rows}).Concatenate(options_.shapes[i]);
    if (expected.IsCompatibleWith(batch[i].shape())) continue;
    return InvalidArgument("Shape mismatch in tuple component ", i, ". Expected ",
                           expected.ToString(), ", got ", batch[i].shape().ToString());
  }
  return absl::OkStatus();
}

absl::StatusOr<Tensors> QueueResource::Stack(Allocator& allocator,
                                             std::vector<Tensors> rows) const {
  return StackRows(allocator, rows);
}

Tensors QueueResource::EmptyBatch() const {
  Tensors batch;
  for (size_t i = 0; i < options_.types.size(); ++i) {
    TensorShape shape({0});
    for (int64_t size : options_.shapes[i].dims()) shape.AddDim(std::max<int64_t>(size, 0));
    batch.emplace_back(options_.types[i], shape);
  }
  return batch;
}

absl::Status QueueResource::CheckSame(const QueueSpec& requested) const {
  const auto differs = [&](std::string_view what, const std::string& has,
                           const std::string& other) {
    const std::string_view verb = what == "capacity" ? " was " : " were ";
    return InvalidArgument("Shared queue '", options_.name, "' has ", what, " ", has,
                           " but requested ", what, verb, other);
  };
  SLUICE_INVALID_IF(requested.kind != options_.kind, "Expected ", options_.kind, ", found ",
                    requested.kind);
  const int64_t capacity =
      requested.capacity < 0 ? std::numeric_limits<int32_t>::max() : requested.capacity;
  if (capacity != options_.capacity) {
    return differs("capacity", StrCat(options_.capacity), StrCat(capacity));
  }
  if (requested.types != options_.types) {
    return differs("component types", TypesText(options_.types), TypesText(requested.types));
  }
  if (requested.shapes != options_.shapes) {
    return differs("component shapes", ShapesText(options_.shapes), ShapesText(requested.shapes));
  }
  return absl::OkStatus();
}

// --- reports

std::string QueueResource::State() const {
  std::string text = StrCat(Count());
  if (options_.capacity < std::numeric_limits<int32_t>::max()) {
    StrAppend(&text, " of ", options_.capacity);
  }
  StrAppend(&text, " elements");
  if (closed_) StrAppend(&text, ", closed");
  if (!putting_.empty()) StrAppend(&text, ", ", putting_.size(), " waiting to enqueue");
  if (!taking_.empty()) StrAppend(&text, ", ", taking_.size(), " waiting to dequeue");
  return text;
}

std::string QueueResource::DebugString() const {
  ScopedLock lock(&mutex_);
  return StrCat("queue '", options_.name, "': ", State());
}

std::string QueueResource::DescribeAttempt(int64_t id) const {
  ScopedLock lock(&mutex_);
  std::string text = State();
  for (const Attempt& a : taking_) {
    if (a.id == id && a.is_many) {
      StrAppend(&text, "; has ", a.rows.size(), " of ",
                static_cast<int64_t>(a.rows.size()) + a.missing, DescribeRows(a.rows));
    }
  }
  for (const Attempt& a : putting_) {
    if (a.id == id && a.is_many) StrAppend(&text, "; ", a.rows.size(), " elements to enqueue");
  }
  return text;
}

}  // namespace sluice
