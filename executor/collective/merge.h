// The arithmetic of collective ops: merges the tensors of a group's members.
//
// Thread safety: the functions may be called from any thread. Like TensorFlow, they compute in the
// elements' type: a sum of halves is rounded to half after every member.
#ifndef SLUICE_EXECUTOR_COLLECTIVE_MERGE_H_
#define SLUICE_EXECUTOR_COLLECTIVE_MERGE_H_

#include "graph/tensor/tensor.h"

namespace sluice {

enum class MergeOp { kAdd, kMul, kMin, kMax };
// The last operation on the merged values: none, or a division by the number of members.
enum class FinalOp { kId, kDiv };

// Sets values[i] = values[i] op more[i - begin] for i in [begin, begin + more.num_elements()). Both
// tensors have the same type, one of those that CollectiveReduce allows.
void Merge(MergeOp op, Tensor& values, int64_t begin, const Tensor& more);
// Divides each element by `n`. Results of integer types are truncated.
void Divide(Tensor& values, int n);

// Returns elements [begin, end) of `values` as a vector that shares the buffer of `values`.
Tensor Elements(const Tensor& values, int64_t begin, int64_t end);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_COLLECTIVE_MERGE_H_
