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

// A hyper-parameter has the name of a field of the optimizer's options. Missing ones keep the
// field's default. NOT_FOUND, with the existing names, for an unknown optimizer or hyper-parameter.
absl::StatusOr<std::unique_ptr<Optimizer>> MakeOptimizer(
    const std::string& name, absl::Span<const sluice_hyper_parameter> parameters);

}  // namespace sluice::c_api

#endif  // SLUICE_C_API_OPTIMIZERS_H_
