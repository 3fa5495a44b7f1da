// Kernels that check values and print them.
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

#include "executor/files/files.h"
#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/state/arguments.h"

namespace sluice {
namespace {

// Returns "[<values of input>][<values of next input>]…", from input `first` on.
std::string Summaries(const KernelContext& c, int first, int64_t summarize,
                      std::string_view between) {
  std::string text;
  for (int i = first; i < c.num_inputs(); ++i) {
    StrAppend(&text, i > first ? between : "", "[", c.input(i).SummarizeValues(summarize), "]");
  }
  return text;
}

absl::Status Assert(KernelContext& c, Attr<int64_t, "summarize"> summarize) {
  SLUICE_RETURN_IF_ERROR(ExpectRank(c.input(0), 0, "In[0] should be a scalar: "));
  if (c.input(0).scalar<bool>()) return absl::OkStatus();
  return InvalidArgument("assertion failed: ", Summaries(c, 1, summarize, " "));
}

// Writes a line in one call, so that lines of concurrent steps do not mix.
void WriteLine(FILE* stream, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

class PrintKernel final : public Kernel {
 public:
  explicit PrintKernel(KernelInit& init)
      : message_(init.attr<std::string>("message")),
        first_n_(init.attr<int64_t>("first_n")),
        summarize_(init.attr<int64_t>("summarize")) {}
  absl::Status Compute(KernelContext& c) override {
    c.set_output(0, c.input(0));
    if (first_n_ >= 0 && calls_.fetch_add(1, std::memory_order_relaxed) >= first_n_) {
      return absl::OkStatus();
    }
    WriteLine(stderr, StrCat(message_, Summaries(c, 1, summarize_, ""), "\n"));
    return absl::OkStatus();
  }

 private:
  const std::string message_;
  const int64_t first_n_;
  const int64_t summarize_;
  std::atomic<int64_t> calls_{0};
};

absl::Status PrintV2(KernelContext& c, const Attr<std::string, "output_stream">& stream,
                     const Attr<std::string, "end">& end) {
  SLUICE_RETURN_IF_ERROR(ExpectRank(c.input(0), 0, "Input is expected to be scalar, but got "));
  const std::string text = c.input(0).scalar<std::string>() + end.value;
  constexpr std::string_view kFile = "file://";
  if (stream.value.starts_with(kFile)) {
    return AppendToFile(stream.value.substr(kFile.size()), text);
  }
  WriteLine(stream.value == "stdout" ? stdout : stderr, text);
  return absl::OkStatus();
}

struct Found {
  bool nan = false;
  bool positive = false;
  bool negative = false;
};

template <typename T>
Found FindNonFinite(const T* x, int64_t n) {
  // x - x is 0 if x is finite, and NaN if not.
  double zero = 0;
  for (int64_t i = 0; i < n; ++i) zero += static_cast<double>(x[i]) - static_cast<double>(x[i]);
  Found found;
  if (zero == 0) return found;
  for (int64_t i = 0; i < n; ++i) {
    const double v = static_cast<double>(x[i]);
    found.nan |= std::isnan(v);
    found.positive |= std::isinf(v) && v > 0;
    found.negative |= std::isinf(v) && v < 0;
  }
  return found;
}

// Joins words as in "a", "a and b", "a, b, and c".
std::string Listed(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    const bool last = i + 1 == words.size();
    StrAppend(&text,
              i == 0                     ? ""
              : last && words.size() > 2 ? ", and "
              : last                     ? " and "
                                         : ", ",
              words[i]);
  }
  return text;
}

// Describes the found values in words. `signs` distinguishes the infinities.
std::string Words(const Found& found, bool signs) {
  std::vector<std::string> words;
  if (signs) {
    if (found.negative) words.push_back("-Inf");
    if (found.positive) words.push_back("+Inf");
  } else if (found.negative || found.positive) {
    words.push_back("Inf");
  }
  if (found.nan) words.push_back("NaN");
  return Listed(words);
}

template <typename T, bool kSigns>
class CheckNumericsBase final : public Kernel {
 public:
  explicit CheckNumericsBase(KernelInit& init) : message_(init.attr<std::string>("message")) {}
  absl::Status Compute(KernelContext& c) override {
    const Tensor& x = c.input(0);
    c.set_output(0, x);
    const Found found = FindNonFinite(x.data<T>(), x.num_elements());
    if (!found.nan && !found.positive && !found.negative) return absl::OkStatus();
    return InvalidArgument(message_, " : Tensor had ", Words(found, kSigns), " values");
  }

 private:
  const std::string message_;
};

template <typename T>
using CheckNumerics = CheckNumericsBase<T, false>;
template <typename T>
using CheckNumericsV2 = CheckNumericsBase<T, true>;

absl::Status Timestamp(KernelContext& c) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return SetScalarOutput(c, std::chrono::duration<double>(now).count());
}

KERNEL(Assert, CheapFunctionKernel<Assert>);
KERNEL(Print, PrintKernel);
KERNEL(PrintV2, FunctionKernel<PrintV2>);
KERNELS(CheckNumerics, "T", CheckNumerics, FloatList);
KERNELS(CheckNumericsV2, "T", CheckNumericsV2, FloatList);
KERNEL(Timestamp, CheapFunctionKernel<Timestamp>);

}  // namespace
}  // namespace sluice
