// VersionText returns the text of `sluice --version`: the version, and the instruction sets that
// kernels use on this machine. The environment variable SLUICE_CPU may limit them.
#ifndef SLUICE_TOOLS_COMMANDS_VERSION_H_
#define SLUICE_TOOLS_COMMANDS_VERSION_H_

#include <string>

namespace sluice {

std::string VersionText();

}  // namespace sluice

#endif  // SLUICE_TOOLS_COMMANDS_VERSION_H_
