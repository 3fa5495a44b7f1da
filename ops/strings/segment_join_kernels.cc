// The kernel of UnsortedSegmentJoin.
#include <vector>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/loops/int_tensor.h"

namespace sluice {
namespace {

absl::StatusOr<int64_t> Check(const Tensor& in, const Tensor& ids, const Tensor& count) {
  SLUICE_INVALID_IF(count.num_elements() == 0, "Number of segments cannot be empty.");
  SLUICE_INVALID_IF(ids.rank() == 0, "Segment_id cannot have rank 0");
  if (ids.rank() > in.rank()) {
    return absl::OutOfRangeError(StrCat("Invalid segment_id rank ", ids.rank(), " for input with ",
                                        in.rank(), " dimension(s)"));
  }
  for (int d = 0; d < ids.rank(); ++d) {
    if (ids.dim(d) == in.dim(d)) continue;
    return InvalidArgument("Segment dimension is ", ids.dim(d), " while input dimension is ",
                           in.dim(d), " in rank ", d);
  }
  SLUICE_INVALID_IF(IntAt(count, 0) < 0, "Number of segments must be at least 0, got ",
                    IntAt(count, 0));
  return IntAt(count, 0);
}

absl::Status UnsortedSegmentJoin(KernelContext& c,
                                 const Attr<std::string, "separator">& separator) {
  const Tensor &in = c.input(0), &ids = c.input(1);
  SLUICE_ASSIGN_OR_RETURN(const int64_t segments, Check(in, ids, c.input(2)));
  std::vector<int64_t> dims = {segments};
  for (int d = ids.rank(); d < in.rank(); ++d) dims.push_back(in.dim(d));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(dims));
  for (int64_t i = 0; i < ids.num_elements(); ++i) {
    if (IntAt(ids, i) >= 0 && IntAt(ids, i) < segments) continue;
    return InvalidArgument(
        "segment_ids are not allowed to exceed num_segments or to have negative values, got ",
        IntAt(ids, i), " of ", segments);
  }
  // Avoids a division by 0. If there are no segments, there are no ids either.
  const int64_t length = segments == 0 ? 0 : shape.num_elements() / segments;
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  for (int64_t i = 0; i < ids.num_elements(); ++i) {
    for (int64_t k = 0; k < length; ++k) {
      std::string& text = out->data<std::string>()[IntAt(ids, i) * length + k];
      if (!text.empty()) text += separator.value;
      text += in.data<std::string>()[i * length + k];
    }
  }
  return absl::OkStatus();
}
KERNEL(UnsortedSegmentJoin, FunctionKernel<UnsortedSegmentJoin>);

}  // namespace
}  // namespace sluice
