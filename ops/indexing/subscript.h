// Builder functions for rows and elements of tensors at positions given as numbers.
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

// Gathers slices of `params` along `axis`. ops/state/variable.h gathers rows of a Variable.
Output Gather(Output params, Output indices, int axis = 0, std::string_view name = "",
              At at = At::current());

// x[index]: an element of a vector, a row of a matrix.
Output ElementAt(Output x, int64_t index, std::string_view name = "strided_slice",
                 At at = At::current());
// x[begin:end] along axis 0, or x[begin:] if `end` is 0.
Output RowsOf(Output x, int64_t begin, int64_t end, std::string_view name = "strided_slice",
              At at = At::current());

// The rows of `x` whose element of the vector `mask` is true.
Output BooleanMask(Output x, Output mask, std::string_view name = "boolean_mask",
                   At at = At::current());

}  // namespace sluice

#endif  // SLUICE_OPS_INDEXING_SUBSCRIPT_H_
