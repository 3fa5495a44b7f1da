#include "ops/data/batch.h"

#include "graph/status.h"
#include "graph/tensor/limited_heap.h"
#include "ops/state/tuples.h"

namespace sluice {
namespace {

absl::Status CheckSameShapes(const std::vector<Tensors>& rows) {
  for (size_t r = 0; r < rows.size(); ++r) {
    for (size_t i = 0; i < rows[0].size(); ++i) {
      const TensorShape& first = rows[0][i].shape();
      if (rows[r][i].shape() == first) continue;
      return InvalidArgument("Cannot batch tensors with different shapes in component ", i,
                             ". First element had shape ", first.ToString(), " and element ", r,
                             " had shape ", rows[r][i].shape().ToString(),
                             rows[r][i].num_elements() == rows[0][i].num_elements()
                                 ? "."
                                 : ": number of elements does not match.");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckSameTypes(const std::vector<Tensors>& rows) {
  for (size_t r = 1; r < rows.size(); ++r) {
    SLUICE_INVALID_IF(rows[r].size() != rows[0].size(),
                      "Cannot batch elements of different numbers of components. First ",
                      "element had ", rows[0].size(), " and element ", r, " had ", rows[r].size(),
                      ".");
    for (size_t i = 0; i < rows[r].size(); ++i) {
      if (rows[r][i].dtype() == rows[0][i].dtype()) continue;
      return InvalidArgument("Cannot batch tensors of different types in component ", i,
                             ". First element had type ", DataTypeName(rows[0][i].dtype()),
                             " and element ", r, " had type ", DataTypeName(rows[r][i].dtype()),
                             ".");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Tensors> BatchOf(const std::vector<Tensors>& rows) {
  SLUICE_RETURN_IF_ERROR(CheckSameTypes(rows));
  SLUICE_RETURN_IF_ERROR(CheckSameShapes(rows));
  return StackRows(LimitedHeap(), rows);
}

DatasetFacts BatchedFacts(const DatasetFacts& in, const BatchSpec& spec) {
  DatasetFacts facts = in.Scaled([&](int64_t n) {
    return n / spec.size + (spec.drop_remainder || n % spec.size == 0 ? 0 : 1);
  });
  facts.rows = spec.drop_remainder ? spec.size : -1;
  return facts;
}

}  // namespace sluice
