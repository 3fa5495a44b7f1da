#include "tools/commands/steps.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "graph/status.h"
#include "tools/npz/npz.h"
#include "tools/npz/tensor_npy.h"

ABSL_FLAG(std::string, feeds, "", "run, trace: .npz file with the feeds, by tensor name");
ABSL_FLAG(std::vector<std::string>, fetches, {}, "run, trace: tensors to fetch");
ABSL_FLAG(std::vector<std::string>, targets, {}, "run, trace: ops to run in each step");
ABSL_FLAG(std::vector<std::string>, init, {},
          "run, trace: ops to run once, in a step before the first, with the feeds of that one");
ABSL_FLAG(sluice::StepRange, steps, {},
          "run, trace: number of steps; 0: the rows of the #steps feeds, else 1 (trace: 10); "
          "trace: \"10..20\": those that are traced, from 0 on");

namespace sluice {

bool AbslParseFlag(absl::string_view text, StepRange* range, std::string* error) {
  *range = {};
  const size_t dots = text.find("..");
  int64_t last;
  if (dots == text.npos) {
    if (absl::SimpleAtoi(text, &range->count) && range->count >= 0) return true;
  } else if (absl::SimpleAtoi(text.substr(0, dots), &range->first) &&
             absl::SimpleAtoi(text.substr(dots + 2), &last) && range->first >= 0 &&
             last >= range->first && last < INT64_MAX) {
    range->count = last + 1;
    return true;
  }
  *error = "expected a number of steps, or first..last";
  return false;
}

std::string AbslUnparseFlag(const StepRange& range) {
  return range.first < 0 ? StrCat(range.count) : StrCat(range.first, "..", range.count - 1);
}

namespace {

// The type of the graph's tensor `name`; DT_INVALID if there is none, which the step will report.
DataType ExpectedType(const Graph& graph, const std::string& name) {
  const absl::StatusOr<Output> output = graph.FindOutput(name);
  const bool is_tensor = output.ok() && output->node->num_outputs() > 0;
  return is_tensor ? BaseType(output->dtype()) : DT_INVALID;
}

// The name of the tensor that `key` stands for.
const std::string& NameOf(const std::string& key, const TensorNames& names) {
  const auto found = names.find(key);
  return found == names.end() ? key : found->second;
}

}  // namespace

absl::StatusOr<Feeds> ReadFeeds(const Graph& graph, const TensorNames& inputs) {
  Feeds feeds;
  const std::string path = absl::GetFlag(FLAGS_feeds);
  if (path.empty()) return feeds;
  SLUICE_ASSIGN_OR_RETURN(const auto arrays, ReadNpz(path));
  for (const auto& [key, array] : arrays) {
    const bool is_per_step = absl::EndsWith(key, ToAbsl(kPerStep));
    const std::string input(absl::StripSuffix(key, ToAbsl(kPerStep)));
    const std::string& name = NameOf(input, inputs);
    absl::StatusOr<Tensor> tensor = TensorFromNpy(array, ExpectedType(graph, name));
    if (!tensor.ok()) return Annotate(tensor.status(), StrCat("feed '", key, "': "));
    (is_per_step ? feeds.per_step : feeds.always).push_back({name, *std::move(tensor)});
  }
  return feeds;
}

std::vector<std::string> FetchedKeys(const TensorNames& outputs) {
  std::vector<std::string> keys = absl::GetFlag(FLAGS_fetches);
  if (!keys.empty()) return keys;
  for (const auto& [key, name] : outputs) keys.push_back(key);
  return keys;
}

std::vector<std::string> NamesOfKeys(const std::vector<std::string>& keys,
                                     const TensorNames& outputs) {
  std::vector<std::string> names;
  for (const std::string& key : keys) names.push_back(NameOf(key, outputs));
  return names;
}

absl::StatusOr<int64_t> NumberOfSteps(const Feeds& feeds) {
  int64_t steps = absl::GetFlag(FLAGS_steps).count;
  for (const NamedFeed& feed : feeds.per_step) {
    const int64_t rows = feed.value.rank() == 0 ? -1 : feed.value.dim(0);
    if (steps == 0) steps = std::max<int64_t>(rows, 1);
    if (rows != steps || rows < 0) {
      return InvalidArgument("feed '", feed.tensor, kPerStep, "': expected ", steps,
                             " rows, one per step, got shape ", feed.value.shape().ToString());
    }
  }
  return std::max<int64_t>(steps, 1);
}

absl::StatusOr<std::vector<NamedFeed>> FeedsOf(const Feeds& feeds, int64_t step) {
  std::vector<NamedFeed> all = feeds.always;
  for (const NamedFeed& feed : feeds.per_step) {
    TensorShape shape = feed.value.shape();
    shape.RemoveDim(0);
    SLUICE_ASSIGN_OR_RETURN(const Tensor row, feed.value.SliceRows(step, step + 1).Clone());
    all.push_back({feed.tensor, row.Reshaped(shape)});
  }
  return all;
}

absl::Status RunInit(Session& session, const Feeds& feeds) {
  const std::vector<std::string> init = absl::GetFlag(FLAGS_init);
  if (init.empty()) return absl::OkStatus();
  SLUICE_ASSIGN_OR_RETURN(const std::vector<NamedFeed> fed, FeedsOf(feeds, 0));
  const absl::Status status = session.Run(fed, absl::Span<const std::string>(), init).status();
  return status.ok() ? status : Annotate(status, "--init: ");
}

}  // namespace sluice
