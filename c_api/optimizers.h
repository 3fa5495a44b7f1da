// Makes optimizers from the names of their classes and constant hyper-parameters.
//
// Thread safety: that of Optimizer. The caller owns the result.
#ifndef SLUICE_C_API_OPTIMIZERS_H_
#define SLUICE_C_API_OPTIMIZERS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "sluice_c.h"
#include "training/optimizer/optimizer.h"

namespace sluice::c_api {

// Makes the optimizer `name`. A hyper-parameter has the name of a field of the optimizer's options.
// Fields without a hyper-parameter keep their defaults. NOT_FOUND, with a list of the existing
// names, if the optimizer or a hyper-parameter is unknown.
absl::StatusOr<std::unique_ptr<Optimizer>> MakeOptimizer(
    const std::string& name, absl::Span<const sluice_hyper_parameter> parameters);

}  // namespace sluice::c_api

#endif  // SLUICE_C_API_OPTIMIZERS_H_
