// Parses the serialised Examples of a batch and gives access to their features.
//
// Thread safety: none.
// Errors: INVALID_ARGUMENT if bytes are not an Example.
#ifndef SLUICE_OPS_IO_EXAMPLES_H_
#define SLUICE_OPS_IO_EXAMPLES_H_

#include <google/protobuf/arena.h>

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "graph/format/proto/feature.pb.h"

namespace sluice {

class Examples {
 public:
  absl::Status Parse(absl::Span<const std::string> serialized);
  // Valid as long as this object.
  absl::Span<const pb::Features* const> features() const { return features_; }

 private:
  google::protobuf::Arena arena_;
  std::vector<const pb::Features*> features_;
};

}  // namespace sluice

#endif  // SLUICE_OPS_IO_EXAMPLES_H_
