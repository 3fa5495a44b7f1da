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
  SLUICE_RETURN_IF_ERROR(ExpectRank(c.input(1), 0, "Pattern must be scalar, but received "));
  SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<RE2> regex,
                          Compile(c.input(1).scalar<std::string>()));
  return MatchAll(c, *regex);
}

absl::StatusOr<std::unique_ptr<RE2>> PatternOf(KernelInit& init) {
  return Compile(init.attr<std::string>("pattern"));
}

absl::Status StaticRegexFullMatch(KernelContext& c, const Prepared<PatternOf>& regex) {
  return MatchAll(c, **regex);
}

// Replaces matches. Leaves the text as it is if the rewrite refers to a group that the pattern
// lacks.
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

absl::Status StaticRegexReplace(KernelContext& c, const Prepared<PatternOf>& regex,
                                const Attr<std::string, "rewrite">& rewrite,
                                Attr<bool, "replace_global"> replace_global) {
  return ReplaceAll(c, **regex, rewrite, replace_global);
}

KERNEL(RegexFullMatch, FunctionKernel<RegexFullMatch>);
KERNEL(RegexReplace, FunctionKernel<RegexReplace>);
KERNEL(StaticRegexReplace, FunctionKernel<StaticRegexReplace>);
KERNEL(StaticRegexFullMatch, FunctionKernel<StaticRegexFullMatch>);

}  // namespace
}  // namespace sluice
