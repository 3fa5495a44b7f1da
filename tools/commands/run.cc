#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "executor/session/session.h"
#include "fmt/format.h"
#include "graph/format/graph_def.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "tools/commands/command.h"
#include "tools/commands/graph_file.h"
#include "tools/npz/npz.h"
#include "tools/npz/tensor_npy.h"

ABSL_FLAG(std::string, feeds, "", "run: .npz file of what is fed, by tensor name");
ABSL_FLAG(std::vector<std::string>, fetches, {}, "run: tensors to fetch");
ABSL_FLAG(std::vector<std::string>, targets, {}, "run: ops to run in each step");
ABSL_FLAG(std::vector<std::string>, init, {}, "run: ops to run once, in a step before the first");
ABSL_FLAG(int64_t, steps, 0, "run: number of steps; 0: the rows of the #steps feeds, else 1");
ABSL_FLAG(std::string, out, "", "run: .npz file for the results; without it they are printed");

namespace sluice {
namespace {

constexpr std::string_view kPerStep = "#steps";

struct Feeds {
  std::vector<NamedFeed> always;
  std::vector<NamedFeed> per_step;  // a row a step
};

// What the graph expects under `name`; DT_INVALID where it has no such tensor (the step will say
// so).
DataType ExpectedType(const Graph& graph, const std::string& name) {
  const absl::StatusOr<Output> output = graph.FindOutput(name);
  return output.ok() ? BaseType(output->dtype()) : DT_INVALID;
}

absl::StatusOr<Feeds> ReadFeeds(const std::string& path, const Graph& graph) {
  Feeds feeds;
  if (path.empty()) return feeds;
  SLUICE_ASSIGN_OR_RETURN(const auto arrays, ReadNpz(path));
  for (const auto& [key, array] : arrays) {
    const bool is_per_step = absl::EndsWith(key, ToAbsl(kPerStep));
    const std::string name(absl::StripSuffix(key, ToAbsl(kPerStep)));
    absl::StatusOr<Tensor> tensor = TensorFromNpy(array, ExpectedType(graph, name));
    if (!tensor.ok()) return Annotate(tensor.status(), StrCat("feed '", key, "': "));
    (is_per_step ? feeds.per_step : feeds.always).push_back({name, *std::move(tensor)});
  }
  return feeds;
}

// --steps, checked against the feeds that have a row a step.
absl::StatusOr<int64_t> NumberOfSteps(const Feeds& feeds) {
  int64_t steps = absl::GetFlag(FLAGS_steps);
  if (steps < 0) return InvalidArgument("--steps: expected a number of steps, got ", steps);
  for (const NamedFeed& feed : feeds.per_step) {
    const int64_t rows = feed.value.rank() == 0 ? -1 : feed.value.dim(0);
    if (steps == 0) steps = rows;
    if (rows != steps || rows < 0) {
      return InvalidArgument("feed '", feed.tensor, kPerStep, "': expected ", steps,
                             " rows, one a step, got shape ", feed.value.shape().ToString());
    }
  }
  return std::max<int64_t>(steps, 1);
}

// Row `step` of each per-step feed, beside the others.
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

bool AllAlike(const Tensors& rows) {
  return std::all_of(rows.begin(), rows.end(), [&rows](const Tensor& row) {
    return row.dtype() == rows[0].dtype() && row.shape() == rows[0].shape();
  });
}

// Tensors of one type and shape -> one tensor with a dimension more in front.
absl::StatusOr<Tensor> Stack(const Tensors& rows) {
  TensorShape shape = rows[0].shape();
  shape.InsertDim(0, static_cast<int64_t>(rows.size()));
  SLUICE_ASSIGN_OR_RETURN(Tensor stack, Tensor::Allocate(Heap(), rows[0].dtype(), shape));
  const int64_t elements = rows[0].num_elements();
  for (size_t i = 0; i < rows.size() && elements > 0; ++i) {
    if (rows[i].dtype() == DT_STRING) {
      std::copy_n(rows[i].data<std::string>(), elements, stack.data<std::string>() + i * elements);
    } else {
      std::memcpy(static_cast<char*>(stack.raw()) + i * rows[i].bytes(), rows[i].raw(),
                  rows[i].bytes());
    }
  }
  return stack;
}

using Results = std::vector<Tensors>;  // a list a fetch, a tensor a step

absl::StatusOr<Results> RunSteps(Session& session, const Feeds& feeds, int64_t steps,
                                 const std::vector<std::string>& fetches) {
  const std::vector<std::string> targets = absl::GetFlag(FLAGS_targets);
  Results results(fetches.size());
  for (int64_t step = 0; step < steps; ++step) {
    SLUICE_ASSIGN_OR_RETURN(const std::vector<NamedFeed> fed, FeedsOf(feeds, step));
    absl::StatusOr<Tensors> fetched = session.Run(fed, fetches, targets);
    if (!fetched.ok()) return Annotate(fetched.status(), StrCat("step ", step, ": "));
    for (size_t i = 0; i < fetches.size(); ++i) results[i].push_back(std::move((*fetched)[i]));
  }
  return results;
}

absl::Status AddArray(const std::string& key, const Tensor& tensor,
                      std::map<std::string, NpyArray>& arrays) {
  absl::StatusOr<NpyArray> array = NpyFromTensor(tensor);
  if (!array.ok()) return Annotate(array.status(), StrCat("fetch '", key, "': "));
  arrays[key] = *std::move(array);
  return absl::OkStatus();
}

absl::Status WriteResults(const std::vector<std::string>& fetches, const Results& results,
                          bool with_steps, const std::string& path) {
  std::map<std::string, NpyArray> arrays;
  for (size_t i = 0; i < fetches.size(); ++i) {
    SLUICE_RETURN_IF_ERROR(AddArray(fetches[i], results[i].back(), arrays));
    if (!with_steps || !AllAlike(results[i])) continue;
    SLUICE_ASSIGN_OR_RETURN(const Tensor stack, Stack(results[i]));
    SLUICE_RETURN_IF_ERROR(AddArray(StrCat(fetches[i], kPerStep), stack, arrays));
  }
  return WriteNpz(path, arrays);
}

void PrintResults(const std::vector<std::string>& fetches, const Results& results) {
  for (size_t i = 0; i < fetches.size(); ++i) {
    fmt::print("{} = {}\n", fetches[i], results[i].back().ToString());
  }
}

}  // namespace

absl::Status RunCommand(const Arguments& arguments) {
  if (arguments.size() != 1) {
    return InvalidArgument("'run' takes one graph file, got ", arguments.size(), " arguments");
  }
  SLUICE_ASSIGN_OR_RETURN(const GraphFile file, ReadGraphFile(arguments[0]));
  Graph graph;
  SLUICE_RETURN_IF_ERROR(ImportGraphDef(file.meta.graph_def(), graph).status());
  SLUICE_ASSIGN_OR_RETURN(const Feeds feeds, ReadFeeds(absl::GetFlag(FLAGS_feeds), graph));
  SLUICE_ASSIGN_OR_RETURN(const int64_t steps, NumberOfSteps(feeds));

  Session session(graph);
  const std::vector<std::string> init = absl::GetFlag(FLAGS_init);
  if (!init.empty()) {
    const absl::Status status =
        session.Run(absl::Span<const NamedFeed>(), absl::Span<const std::string>(), init).status();
    if (!status.ok()) return Annotate(status, "--init: ");
  }
  const std::vector<std::string> fetches = absl::GetFlag(FLAGS_fetches);
  SLUICE_ASSIGN_OR_RETURN(const Results results, RunSteps(session, feeds, steps, fetches));
  const std::string out = absl::GetFlag(FLAGS_out);
  const bool with_steps = absl::GetFlag(FLAGS_steps) > 0 || !feeds.per_step.empty();
  if (!out.empty()) return WriteResults(fetches, results, with_steps, out);
  PrintResults(fetches, results);
  return absl::OkStatus();
}

}  // namespace sluice
