// Functions that add ops which select rows or elements of a tensor.
//
// Errors: stay in the graph. The result is then an invalid handle.
// Reference: the nodes and their names are those of Python's x[i], x[i:j] and tf.boolean_mask.
#ifndef SLUICE_OPS_INDEXING_SUBSCRIPT_H_
#define SLUICE_OPS_INDEXING_SUBSCRIPT_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "graph/ir/graph.h"

namespace sluice {

// Returns the slices of `params` at positions `indices` of `axis`. For rows of a Variable, use
// Gather in ops/state/variable.h.
Output Gather(Output params, Output indices, int axis = 0, std::string_view name = "",
              At at = At::current());

// Returns x[index]: an element of a vector, or a row of a matrix. A negative index counts from the
// end.
Output ElementAt(Output x, int64_t index, std::string_view name = "strided_slice",
                 At at = At::current());
// Returns x[begin:end] along axis 0, or x[begin:] if `end` is 0. Negative bounds count from the
// end.
Output RowsOf(Output x, int64_t begin, int64_t end, std::string_view name = "strided_slice",
              At at = At::current());

// Returns the rows of `x` for which `mask` is true. `mask` is a bool vector with one element per
// row.
Output BooleanMask(Output x, Output mask, std::string_view name = "boolean_mask",
                   At at = At::current());

}  // namespace sluice

#endif  // SLUICE_OPS_INDEXING_SUBSCRIPT_H_
