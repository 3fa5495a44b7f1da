// Which ops the executor runs by itself. Thread safety: a pure function.
#ifndef SLUICE_EXECUTOR_PLAN_NO_KERNEL_H_
#define SLUICE_EXECUTOR_PLAN_NO_KERNEL_H_

#include <string_view>

namespace sluice {

// Feeds, fetches, constants, control flow: their nodes run though no kernel is registered.
bool RunsWithoutKernel(std::string_view op);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_PLAN_NO_KERNEL_H_
