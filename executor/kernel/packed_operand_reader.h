// The interface of matrix products that can read their second operand in packed form, as another op
// has packed it (executor/passes/pack_operands.h).
#ifndef SLUICE_EXECUTOR_KERNEL_PACKED_OPERAND_READER_H_
#define SLUICE_EXECUTOR_KERNEL_PACKED_OPERAND_READER_H_

#include <cstdint>

namespace sluice {

class PackedOperandReader {
 public:
  virtual ~PackedOperandReader() = default;
  // Whether the product of A (m x k) and B (k x n) takes less time on this machine if B is packed.
  virtual bool GainsByPacking(int64_t m, int64_t n, int64_t k) const = 0;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_KERNEL_PACKED_OPERAND_READER_H_
