#include "ops/dataflow/gradient_queue.h"

#include <algorithm>
#include <cstring>

#include "graph/status.h"
#include "graph/tensor/sizes.h"
#include "ops/state/tuples.h"

namespace sluice {
namespace {

QueueSpec WithOrigin(QueueSpec declared) {
  declared.types.push_back(DT_INT64);
  if (declared.shapes.empty()) declared.shapes.resize(declared.types.size() - 1);
  declared.shapes.push_back(PartialShape({2}));
  return declared;
}

// Concatenates component `i` of all rows along dimension 0.
absl::StatusOr<Tensor> JoinRows(Allocator& allocator, const std::vector<Tensors>& rows, size_t i) {
  TensorShape shape = rows[0][i].shape();
  int64_t count = 0;
  for (const Tensors& row : rows) {
    TensorShape same = row[i].shape();
    if (same.rank() >= 1 && same.rank() == shape.rank()) {
      count = SaturatedSum(count, same.dim(0));
      same.set_dim(0, shape.dim(0));
      if (same == shape) continue;
    }
    return InvalidArgument("expected gradients of some rows of one shape, got ",
                           row[i].shape().ToString(), " beside ", rows[0][i].shape().ToString());
  }
  shape.set_dim(0, count);
  SLUICE_ASSIGN_OR_RETURN(Tensor joined, Tensor::Allocate(allocator, rows[0][i].dtype(), shape));
  char* to = static_cast<char*>(joined.raw());
  for (const Tensors& row : rows) {
    const size_t bytes = row[i].num_elements() * DataTypeSize(row[i].dtype());
    if (bytes > 0) std::memcpy(to, row[i].raw(), bytes);
    to += bytes;
  }
  return joined;
}

}  // namespace

GradientQueue::GradientQueue(QueueSpec declared, ReplicaGradients replicas)
    : FifoQueue(WithOrigin(declared)),
      replicas_(std::move(replicas)),
      is_sparse_(declared.shapes.empty()) {}

absl::Span<const DataType> GradientQueue::taken_types() const {
  return absl::MakeConstSpan(options_.types).first(options_.types.size() - 1);
}

absl::Status GradientQueue::CheckSame(const QueueSpec& requested) const {
  return FifoQueue::CheckSame(WithOrigin(requested));
}

int64_t GradientQueue::step() const {
  ScopedLock lock(&mutex_);
  return step_;
}

GradientQueue::Origin GradientQueue::OriginOf(const Tensors& element) {
  const int64_t* origin = element.back().data<int64_t>();
  return {ReplicaOf(origin[0]), origin[1]};
}

bool GradientQueue::DropIfStale(const Tensors& element) {
  const Origin origin = OriginOf(element);
  if (!IsStale(origin)) return false;
  replicas_.Enter(step_, origin.replica, GradientLedger::kStale);
  return true;
}

void GradientQueue::Put(Tensors element) {
  if (!DropIfStale(element)) FifoQueue::Put(std::move(element));
}

void GradientQueue::PutBack(std::vector<Tensors> elements) {
  std::erase_if(elements, [this](const Tensors& element) {
    mutex_.AssertHeld();
    return DropIfStale(element);
  });
  FifoQueue::PutBack(std::move(elements));
}

void GradientQueue::SetGlobalStep(int64_t step) {
  Change(AnotherChiefStarted(StrCat("queue '", options_.name, "'")), [&] {
    mutex_.AssertHeld();
    if (step < step_) {
      undone_until_ = std::max(undone_until_, step_);
      replicas_.Undo(step);
    }
    step_ = step;
    RemoveIf([this](const Tensors& element) {
      mutex_.AssertHeld();
      return DropIfStale(element);
    });
  });
}

void GradientQueue::Completed(const std::vector<Tensors>& rows) {
  for (const Tensors& row : rows) {
    const Origin origin = OriginOf(row);
    replicas_.Enter(origin.step, origin.replica, GradientLedger::kApplied);
    step_ = std::max(step_, SaturatedSum(origin.step, 1));
  }
  RemoveIf([this](const Tensors& element) {
    mutex_.AssertHeld();
    const Origin origin = OriginOf(element);
    if (origin.step >= step_) return false;
    replicas_.Enter(origin.step, origin.replica, GradientLedger::kSurplus);
    return true;
  });
}

absl::StatusOr<Tensors> GradientQueue::Stack(Allocator& allocator,
                                             std::vector<Tensors> rows) const {
  std::stable_sort(rows.begin(), rows.end(), [](const Tensors& a, const Tensors& b) {
    return OriginOf(a).replica < OriginOf(b).replica;
  });
  for (Tensors& row : rows) row.pop_back();
  if (!is_sparse_) return StackRows(allocator, rows);
  Tensors joined;
  for (size_t i = 0; i < rows[0].size(); ++i) {
    SLUICE_ASSIGN_OR_RETURN(Tensor component, JoinRows(allocator, rows, i));
    joined.push_back(std::move(component));
  }
  return joined;
}

Tensors GradientQueue::EmptyBatch() const {
  Tensors batch;
  for (size_t i = 0; i + 1 < options_.types.size(); ++i) {
    TensorShape shape({0});
    if (options_.shapes[i].rank_known()) {
      for (int64_t size : options_.shapes[i].dims()) shape.AddDim(std::max<int64_t>(size, 0));
    }
    batch.emplace_back(options_.types[i], shape);
  }
  return batch;
}

std::string GradientQueue::DescribeRows(const std::vector<Tensors>& rows) const {
  std::vector<int> present;
  for (const Tensors& row : rows) present.push_back(OriginOf(row).replica);
  return StrCat(" for step ", step_, replicas_.MissingText(present));
}

}  // namespace sluice
