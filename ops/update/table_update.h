// Kernels that apply an update rule to rows of an embedding table (ops/embedding).
#ifndef SLUICE_OPS_UPDATE_TABLE_UPDATE_H_
#define SLUICE_OPS_UPDATE_TABLE_UPDATE_H_

#include "graph/tensor/dtype.h"
#include "ops/update/update_kernel.h"

namespace sluice {

// Registers the kernel of rule.TableOpName() if tables may have rows of type `dtype`. Its loop is
// `function` (update_kernel.h), and `cost` is in nanoseconds per element.
void RegisterTableUpdateKernel(const UpdateRule& rule, DataType dtype, double cost,
                               UpdateFunction function);

}  // namespace sluice

#endif  // SLUICE_OPS_UPDATE_TABLE_UPDATE_H_
