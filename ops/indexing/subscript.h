// Rows and elements of tensors, at places that a program writes as numbers.
#ifndef SLUICE_OPS_INDEXING_SUBSCRIPT_H_
#define SLUICE_OPS_INDEXING_SUBSCRIPT_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "graph/ir/graph.h"

namespace sluice {

// Rows of `params` along `axis`: GatherV2. For a Variable see ops/state/variable.h.
Output Gather(Output params, Output indices, int axis = 0, std::string_view name = "",
              At at = At::current());

// x[index]: an element of a vector, a row of a matrix.
Output ElementAt(Output x, int64_t index, std::string_view name = "strided_slice",
                 At at = At::current());
// x[begin:end] along axis 0; `end` 0 = to the end.
Output RowsOf(Output x, int64_t begin, int64_t end, std::string_view name = "strided_slice",
              At at = At::current());

// Rows of `x` where the vector `mask` is true.
Output BooleanMask(Output x, Output mask, std::string_view name = "boolean_mask",
                   At at = At::current());

}  // namespace sluice

#endif  // SLUICE_OPS_INDEXING_SUBSCRIPT_H_
