// Optimizers by the names of their classes, with constant hyper-parameters.
//
// Thread safety: as Optimizer. The caller owns the result.
#ifndef SLUICE_C_API_OPTIMIZERS_H_
#define SLUICE_C_API_OPTIMIZERS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "sluice_c.h"
#include "training/optimizer/optimizer.h"

namespace sluice::c_api {

// A hyper-parameter has the name of the field of the optimizer's options. Missing ones have the
// field's default. NOT_FOUND for an unknown optimizer or hyper-parameter, with the existing ones.
absl::StatusOr<std::unique_ptr<Optimizer>> MakeOptimizer(
    const std::string& name, absl::Span<const sluice_hyper_parameter> parameters);

}  // namespace sluice::c_api

#endif  // SLUICE_C_API_OPTIMIZERS_H_
