// The generator of a node whose op has attributes `seed` and `seed2`.
#ifndef SLUICE_OPS_RANDOM_NODE_GENERATOR_H_
#define SLUICE_OPS_RANDOM_NODE_GENERATOR_H_

#include "executor/kernel/kernel.h"
#include "ops/random/philox.h"

namespace sluice {

class NodeGenerator : public ReservedGenerator {
 public:
  explicit NodeGenerator(KernelInit& init)
      : ReservedGenerator(init.attr<int64_t>("seed"), init.attr<int64_t>("seed2")) {}
};

}  // namespace sluice

#endif  // SLUICE_OPS_RANDOM_NODE_GENERATOR_H_
