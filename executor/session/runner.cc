#include "executor/session/runner.h"

#include "graph/status.h"

namespace sluice {

absl::Status ClosedError() {
  return absl::CancelledError("Step was cancelled by an explicit call to `Session::Close()`.");
}

absl::Status PreparedStep::CheckFeed(int i, const Tensor& value) const {
  const Output& feed = feeds_[i];
  SLUICE_INVALID_IF(value.dtype() != BaseType(feed.dtype()), "feed '", feed.name(), "': expected ",
                    DataTypeName(BaseType(feed.dtype())), ", got ",
                    value.dtype() == DT_INVALID ? "nothing" : DataTypeName(value.dtype()));
  const PartialShape& shape = feed.shape();
  if (!shape.rank_known()) return absl::OkStatus();
  bool fits = shape.rank() == value.rank();
  for (int d = 0; fits && d < shape.rank(); ++d) {
    fits = shape.dim(d) < 0 || shape.dim(d) == value.dim(d);
  }
  if (fits) return absl::OkStatus();
  return InvalidArgument("Cannot feed value of shape ", value.shape().ToString(), " for Tensor '",
                         feed.name(), "', which has shape ", shape.ToString());
}

}  // namespace sluice
