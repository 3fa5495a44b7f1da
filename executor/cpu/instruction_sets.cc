#include "executor/cpu/instruction_sets.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include <cstdio>
#include <iterator>

namespace sluice {
namespace {

constexpr char kVariable[] = "SLUICE_CPU=";
constexpr int kLongestValue = 6;
constexpr char kValues[][kLongestValue + 1] = {"none", "sse4", "avx2", "avx512"};

// The resolvers of target clones run while the program is being relocated, before the C library can
// be used. So the code below calls only the system, and BUILD.bazel disables calls that the
// compiler adds.
#if defined(__x86_64__)
int64_t SystemCall(int64_t number, int64_t a, int64_t b, int64_t c) {
  int64_t result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c)
               : "rcx", "r11", "memory");
  return result;
}
#endif

bool AreEqual(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}

// Reads a process's environment, one character after the other.
class Parser {
 public:
  void Read(char c) {
    if (c == '\0') return EndVariable();
    constexpr int kNameLength = sizeof(kVariable) - 1;
    if (at_ < kNameLength) is_match_ = is_match_ && c == kVariable[at_];
    const int in_value = at_ - kNameLength;
    if (in_value >= 0 && in_value <= kLongestValue) value_[in_value] = c;
    ++at_;
  }

  InstructionSets limit() const { return limit_; }
  bool is_unknown() const { return is_unknown_; }

 private:
  void EndVariable() {
    constexpr int kNameLength = sizeof(kVariable) - 1;
    if (is_match_ && at_ > kNameLength) {
      const int length = at_ - kNameLength;
      value_[length <= kLongestValue ? length : kLongestValue + 1] = '\0';
      is_unknown_ = true;
      for (int i = 0; i < static_cast<int>(std::size(kValues)); ++i) {
        if (!AreEqual(value_, kValues[i])) continue;
        limit_ = static_cast<InstructionSets>(i);
        is_unknown_ = false;
      }
    }
    at_ = 0;
    is_match_ = true;
  }

  int at_ = 0;
  bool is_match_ = true;
  char value_[kLongestValue + 2] = {};
  InstructionSets limit_ = InstructionSets::kAll;
  bool is_unknown_ = false;
};

Parser ReadEnvironment() {
  Parser parser;
#if defined(__x86_64__)
  constexpr int64_t kInCurrentFolder = AT_FDCWD;
  const char path[] = "/proc/self/environ";
  const int64_t file = SystemCall(SYS_openat, kInCurrentFolder, reinterpret_cast<int64_t>(path),
                                  O_RDONLY | O_CLOEXEC);
  if (file < 0) return parser;
  char buffer[1024];
  int64_t count;
  while ((count = SystemCall(SYS_read, file, reinterpret_cast<int64_t>(buffer), sizeof(buffer))) >
         0) {
    for (int64_t i = 0; i < count; ++i) parser.Read(buffer[i]);
  }
  SystemCall(SYS_close, file, 0, 0);
#endif
  return parser;
}

InstructionSets limit = InstructionSets::kAll;
bool is_limit_known = false;

}  // namespace

InstructionSets InstructionSetLimit() { return limit; }

// Tests features one by one, because clang does not know the names of x86-64 levels before version
// 18. Features that it cannot name (F16C, LZCNT, MOVBE) came with AVX2 in all processors.
InstructionSets UsableInstructionSets() {
#if defined(__x86_64__) && defined(__clang__)
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") &&
                          __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512cd") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#elif defined(__x86_64__)
  const bool has_avx2 = __builtin_cpu_supports("x86-64-v3");
  const bool has_avx512 = __builtin_cpu_supports("x86-64-v4");
#endif
#if defined(__x86_64__)
  if (has_avx512) return InstructionSets::kAvx512;
  if (has_avx2) return InstructionSets::kAvx2;
  if (__builtin_cpu_supports("sse4.2")) return InstructionSets::kSse4;
#endif
  return InstructionSets::kNone;
}

}  // namespace sluice

#if defined(__x86_64__) && defined(__GNUC__)

// The compiler's run-time library stores the processor's features as bits, in the order of GCC's
// processor_features. The order is a part of its binary interface.
extern "C" {
struct CpuModel {
  unsigned vendor, type, subtype, features;
};
extern CpuModel __cpu_model __attribute__((visibility("hidden")));
extern unsigned __cpu_features2[3] __attribute__((visibility("hidden")));

// The linker's option --wrap directs the resolvers' calls of __cpu_indicator_init to the function
// with the prefix __wrap_.
int __real___cpu_indicator_init();
int __wrap___cpu_indicator_init() __attribute__((visibility("hidden")));
}

namespace sluice {
namespace {

// The features that a limit permits.
struct Permitted {
  unsigned model, features2[3];
};

constexpr unsigned Bits(int first, int last) { return (2u << last) - (1u << first); }

// x86-64: CMOV, MMX, SSE and SSE2.
constexpr Permitted kPermittedByNone = {Bits(0, 1) | Bits(3, 4), {0, 1u << 31, 0}};
// x86-64-v2: the same and all features up to SSE4.2.
constexpr Permitted kPermittedBySse4 = {Bits(0, 8), {0, 1u << 31, 1u << 0}};
// x86-64-v3: the same and AVX, AVX2, FMA, BMI, BMI2, F16C, LZCNT and MOVBE.
constexpr Permitted kPermittedByAvx2 = {Bits(0, 10) | 1u << 14 | Bits(16, 17),
                                        {1u << 17 | Bits(25, 26), 1u << 31, Bits(0, 1)}};

const Permitted* PermittedBy(InstructionSets sets) {
  switch (sets) {
    case InstructionSets::kNone:
      return &kPermittedByNone;
    case InstructionSets::kSse4:
      return &kPermittedBySse4;
    case InstructionSets::kAvx2:
      return &kPermittedByAvx2;
    default:
      return nullptr;
  }
}

// Calls the function that the linker's option wraps, in programs without target clones too.
__attribute__((constructor(101))) void LimitInstructionSets() {
  __wrap___cpu_indicator_init();
  if (ReadEnvironment().is_unknown()) {
    std::fprintf(stderr, "SLUICE_CPU is ignored: expected none, sse4, avx2 or avx512\n");
  }
}

}  // namespace
}  // namespace sluice

int __wrap___cpu_indicator_init() {
  const int result = __real___cpu_indicator_init();
  if (sluice::is_limit_known) return result;
  sluice::limit = sluice::ReadEnvironment().limit();
  sluice::is_limit_known = true;
  const sluice::Permitted* const permitted = sluice::PermittedBy(sluice::limit);
  if (permitted == nullptr) return result;
  __cpu_model.features &= permitted->model;
  for (int i = 0; i < 3; ++i) __cpu_features2[i] &= permitted->features2[i];
  return result;
}

#endif
