// Products that read their second operand as an op of its own has packed it
// (executor/passes/pack_operands.h).
#ifndef SLUICE_EXECUTOR_KERNEL_PACKED_OPERAND_H_
#define SLUICE_EXECUTOR_KERNEL_PACKED_OPERAND_H_

#include <cstdint>

namespace sluice {

// A kernel of such a product.
class PackedOperandReader {
 public:
  virtual ~PackedOperandReader() = default;
  // Whether it takes less time where B (k x n) is packed already and A has m rows, on this machine.
  virtual bool GainsByPacking(int64_t m, int64_t n, int64_t k) const = 0;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_KERNEL_PACKED_OPERAND_H_
