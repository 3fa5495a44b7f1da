#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "executor/session/session.h"
#include "fmt/format.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "tools/commands/command.h"
#include "tools/commands/json.h"
#include "tools/commands/model.h"
#include "tools/commands/steps.h"
#include "tools/npz/npz.h"
#include "tools/npz/tensor_npy.h"

ABSL_FLAG(std::string, out, "", "run: .npz file for the results; without it they are printed");

ABSL_FLAG(
    std::vector<std::string>, without_passes, {},
    "run: passes that are left out, as SessionOptions::disabled_passes names them; all: every");

namespace sluice {
namespace {

bool AllAlike(const Tensors& rows) {
  return std::all_of(rows.begin(), rows.end(), [&rows](const Tensor& row) {
    return row.dtype() == rows[0].dtype() && row.shape() == rows[0].shape();
  });
}

// Stacks tensors of one type and shape along a new first dimension.
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

using Results = std::vector<Tensors>;  // one list per fetch, one tensor per step

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
  if (absl::GetFlag(FLAGS_json)) {
    JsonObject object;
    for (size_t i = 0; i < fetches.size(); ++i) {
      object.Add(fetches[i], JsonTensor(results[i].back()));
    }
    fmt::print("{}\n", object.str());
    return;
  }
  for (size_t i = 0; i < fetches.size(); ++i) {
    fmt::print("{} = {}\n", fetches[i], results[i].back().ToString());
  }
}

}  // namespace

absl::Status RunCommand(const Arguments& arguments) {
  if (arguments.size() != 1) {
    return UsageError(
        StrCat("'run' takes one graph or model, got ", arguments.size(), " arguments"));
  }
  Graph graph;
  SLUICE_ASSIGN_OR_RETURN(const Model model, Model::Load(arguments[0], graph));
  SLUICE_ASSIGN_OR_RETURN(const SignatureNames signature, model.Signature());
  SLUICE_ASSIGN_OR_RETURN(const Feeds feeds, ReadFeeds(graph, signature.inputs));
  SLUICE_ASSIGN_OR_RETURN(const int64_t steps, NumberOfSteps(feeds));

  SessionOptions options;
  for (const std::string& pass : absl::GetFlag(FLAGS_without_passes)) {
    options.disabled_passes.insert(pass);
  }
  Session session(graph, options);
  SLUICE_RETURN_IF_ERROR(model.Restore(session));
  SLUICE_RETURN_IF_ERROR(RunInit(session, feeds));
  const std::vector<std::string> fetches = FetchedKeys(signature.outputs);
  SLUICE_ASSIGN_OR_RETURN(const Results results,
                          RunSteps(session, feeds, steps, NamesOfKeys(fetches, signature.outputs)));
  const std::string out = absl::GetFlag(FLAGS_out);
  const bool with_steps = absl::GetFlag(FLAGS_steps).count > 0 || !feeds.per_step.empty();
  if (!out.empty()) return WriteResults(fetches, results, with_steps, out);
  PrintResults(fetches, results);
  return absl::OkStatus();
}

}  // namespace sluice
