#include "tools/commands/version.h"

#include "absl/strings/str_cat.h"
#include "executor/cpu/avx512.h"
#include "executor/cpu/instruction_sets.h"
#include "ops/matmul/amx_gemm.h"

namespace sluice {
namespace {

std::string InstructionSetsInUse() {
#if defined(__x86_64__) && defined(__GNUC__)
  std::string sets = "x86-64";
  if (UsableInstructionSets() >= InstructionSets::kSse4) sets += " sse4";
  if (UsableInstructionSets() >= InstructionSets::kAvx2) sets += " avx2";
  if (HasAvx512()) sets += " avx512";
  if (HasAmx()) sets += " amx";
  return sets;
#else
  return "those of the compiler's target";
#endif
}

}  // namespace

std::string VersionText() {
  constexpr const char* kLimits[] = {"none", "sse4", "avx2", "avx512"};
  const auto limit = static_cast<size_t>(InstructionSetLimit());
  return absl::StrCat("sluice ", SLUICE_VERSION, "\ninstruction sets: ", InstructionSetsInUse(),
                      limit < 4 ? absl::StrCat(" (SLUICE_CPU=", kLimits[limit], ")") : "", "\n");
}

}  // namespace sluice
