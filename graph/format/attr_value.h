// Converts attributes from and to TensorFlow's protocol buffers, and writes OpDefs.
//
// Thread safety: pure functions, except that AttrFromProto changes its FormatBudget, which limits
// the memory of one message (limits.h). Code that reads a message passes one budget to all calls,
// on one thread.
#ifndef SLUICE_GRAPH_FORMAT_ATTR_VALUE_H_
#define SLUICE_GRAPH_FORMAT_ATTR_VALUE_H_

#include "absl/status/statusor.h"
#include "graph/format/limits.h"
#include "graph/format/proto/attr_value.pb.h"
#include "graph/format/proto/op_def.pb.h"
#include "graph/op/attr.h"
#include "graph/op/op_def.h"
#include "graph/tensor/limited_heap.h"

namespace sluice {

// Reads a value. A list without elements becomes an empty vector<std::string>, which Graph::Add
// converts to the kind that the op declares. INVALID_ARGUMENT for a list with elements of two
// kinds. Allocates tensors from `memory`, which must outlive them.
absl::StatusOr<AttrValue> AttrFromProto(const pb::AttrValue& proto, FormatBudget& budget,
                                        Allocator& memory = LimitedHeap());
// Writes a value. Returns the error of TensorToProto (tensor_proto.h) if a tensor cannot be
// written.
absl::Status AttrToProto(const AttrValue& value, pb::AttrValue* proto);

// Writes the declaration of an op for TensorFlow's tools. Field `summary` gets the op's
// documentation.
void OpDefToProto(const OpDef& def, pb::OpDef* proto);

}  // namespace sluice

#endif  // SLUICE_GRAPH_FORMAT_ATTR_VALUE_H_
