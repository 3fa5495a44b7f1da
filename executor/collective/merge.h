// The arithmetic of collectives: what becomes of the members' elements.
//
// Thread safety: functions only. Each works in the type of the elements, as TensorFlow's do: the
// sum of halves is rounded to half after every member.
#ifndef SLUICE_EXECUTOR_COLLECTIVE_MERGE_H_
#define SLUICE_EXECUTOR_COLLECTIVE_MERGE_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"

namespace sluice {

enum class MergeOp { kAdd, kMul, kMin, kMax };
// What follows once all are merged: nothing, or a division by their number.
enum class FinalOp { kId, kDiv };

absl::StatusOr<MergeOp> MergeOpOf(std::string_view name);  // "Add", "Mul", "Min", "Max"
absl::StatusOr<FinalOp> FinalOpOf(std::string_view name);  // "Id", "Div"

// values[i] = values[i] op more[i], for i in [begin, begin + more.num_elements()). Of one type that
// CollectiveReduce has.
void Merge(MergeOp op, Tensor& values, int64_t begin, const Tensor& more);
// Divides by `n`; whole numbers are cut off.
void Divide(Tensor& values, int n);

// Elements [begin, end) as a vector that shares the buffer.
Tensor Elements(const Tensor& values, int64_t begin, int64_t end);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_COLLECTIVE_MERGE_H_
