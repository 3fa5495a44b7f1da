// Kernels that match regular expressions.
#include <re2/re2.h>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "ops/strings/map_elements.h"

namespace sluice {
namespace {

absl::StatusOr<std::unique_ptr<RE2>> Compile(const std::string& pattern) {
  RE2::Options options;
  options.set_log_errors(false);
  auto regex = std::make_unique<RE2>(pattern, options);
  if (regex->ok()) return regex;
  return InvalidArgument("Invalid pattern: ", pattern, ", error: ", regex->error());
}

absl::Status MatchAll(KernelContext& c, const RE2& regex) {
  return MapElements<bool>(c, [&](const std::string& s) { return RE2::FullMatch(s, regex); });
}

absl::Status RegexFullMatch(KernelContext& c) {
  if (c.input(1).rank() != 0) {
    return InvalidArgument("Pattern must be scalar, but received ", c.input(1).shape().ToString());
  }
  SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<RE2> regex,
                          Compile(c.input(1).scalar<std::string>()));
  return MatchAll(c, *regex);
}

class StaticRegexFullMatchKernel final : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<RE2> regex, Compile(init.attr<std::string>("pattern")));
    return std::unique_ptr<Kernel>(new StaticRegexFullMatchKernel(std::move(regex)));
  }
  absl::Status Compute(KernelContext& c) override { return MatchAll(c, *regex_); }

 private:
  explicit StaticRegexFullMatchKernel(std::unique_ptr<RE2> regex) : regex_(std::move(regex)) {}
  const std::unique_ptr<RE2> regex_;
};

// Does not change the text if the rewrite names a group that the pattern lacks.
absl::Status ReplaceAll(KernelContext& c, const RE2& regex, const std::string& rewrite,
                        bool replace_global) {
  std::string problem;
  const bool is_valid = regex.CheckRewriteString(rewrite, &problem);
  return MapElements<std::string>(c, [&](std::string text) {
    if (is_valid && replace_global) RE2::GlobalReplace(&text, regex, rewrite);
    if (is_valid && !replace_global) RE2::Replace(&text, regex, rewrite);
    return text;
  });
}

absl::Status RegexReplace(KernelContext& c) {
  for (int i : {1, 2}) {
    if (c.input(i).rank() == 0) continue;
    return InvalidArgument(i == 1 ? "Pattern" : "Rewrite", " must be scalar, but received ",
                           c.input(i).shape().ToString());
  }
  SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<RE2> regex,
                          Compile(c.input(1).scalar<std::string>()));
  return ReplaceAll(c, *regex, c.input(2).scalar<std::string>(),
                    c.node().AttrOr<bool>("replace_global", true));
}

class StaticRegexReplaceKernel final : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<RE2> regex, Compile(init.attr<std::string>("pattern")));
    return std::unique_ptr<Kernel>(new StaticRegexReplaceKernel(init, std::move(regex)));
  }
  absl::Status Compute(KernelContext& c) override {
    return ReplaceAll(c, *regex_, rewrite_, replace_global_);
  }

 private:
  StaticRegexReplaceKernel(KernelInit& init, std::unique_ptr<RE2> regex)
      : regex_(std::move(regex)),
        rewrite_(init.attr<std::string>("rewrite")),
        replace_global_(init.attr<bool>("replace_global")) {}
  const std::unique_ptr<RE2> regex_;
  const std::string rewrite_;
  const bool replace_global_;
};

KERNEL(RegexFullMatch, FunctionKernel<RegexFullMatch>);
KERNEL(RegexReplace, FunctionKernel<RegexReplace>);
KERNEL(StaticRegexReplace, StaticRegexReplaceKernel);
KERNEL(StaticRegexFullMatch, StaticRegexFullMatchKernel);

}  // namespace
}  // namespace sluice
