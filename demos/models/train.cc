// Trains the models of docs/models.md, built in C++:
//
//   bazel run //demos/models:train -- --model=transformer
//   bazel run //demos/models:train -- --model=all --steps=20
#include <cstdio>
#include <cstring>
#include <map>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "demos/models/model.h"
#include "graph/status.h"
#include "tools/npz/npz.h"
#include "tools/npz/tensor_npy.h"

ABSL_FLAG(std::string, model, "", "a model's name, or all; empty: lists them");
ABSL_FLAG(int64_t, steps, 100, "how long to train");
ABSL_FLAG(std::string, out, "",
          "folder for <model>.npz: what was fed (<tensor>#steps, a row a step) and what the losses "
          "were (loss_0, …)");

namespace sluice::demos {
namespace {

// Collects tensors of one type and shape as rows.
class Rows {
 public:
  void Add(const Tensor& row) { rows_.push_back(row); }

  absl::StatusOr<NpyArray> Array() const {
    TensorShape shape = rows_.at(0).shape();
    shape.InsertDim(0, static_cast<int64_t>(rows_.size()));
    Tensor all(rows_[0].dtype(), shape);
    const int64_t elements = rows_[0].num_elements();
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (all.dtype() == DT_STRING) {
        std::copy_n(rows_[i].data<std::string>(), elements, all.data<std::string>() + i * elements);
      } else {
        std::memcpy(static_cast<char*>(all.raw()) + i * rows_[i].bytes(), rows_[i].raw(),
                    rows_[i].bytes());
      }
    }
    return NpyFromTensor(all);
  }

 private:
  Tensors rows_;
};

absl::Status Write(const std::string& path, const std::map<std::string, Rows>& rows) {
  std::map<std::string, NpyArray> arrays;
  for (const auto& [name, values] : rows) {
    SLUICE_ASSIGN_OR_RETURN(arrays[name], values.Array());
  }
  return WriteNpz(path, arrays);
}

absl::Status Train(const ModelKind& kind, int64_t steps, const std::string& out) {
  Graph graph;
  SLUICE_ASSIGN_OR_RETURN(const Model model, kind.build(graph));
  const Operation init = InitializeVariables(graph);
  std::printf("%s: %s; %d nodes\n", std::string(kind.name).c_str(), std::string(kind.about).c_str(),
              graph.num_nodes());
  Session session(graph);
  SLUICE_RETURN_IF_ERROR(session.Run({init}));
  std::map<std::string, Rows> rows;
  for (int64_t step = 0; step < steps; ++step) {
    const Batch batch = model.batch(step);
    SLUICE_ASSIGN_OR_RETURN(const Tensors losses, session.Run(batch, model.losses, {model.train}));
    if (step % 10 == 0 || step + 1 == steps) {
      std::printf("  step %4lld", static_cast<long long>(step));
      for (const Tensor& loss : losses) std::printf("  %.6f", loss.scalar<float>());
      std::printf("\n");
    }
    if (out.empty()) continue;
    for (const Feed& feed : batch) rows[feed.tensor.name() + "#steps"].Add(feed.value);
    for (size_t i = 0; i < losses.size(); ++i) rows[StrCat("loss_", i)].Add(losses[i]);
  }
  if (out.empty()) return absl::OkStatus();
  return Write(StrCat(out, "/", kind.name, ".npz"), rows);
}

absl::Status Main() {
  const std::string wanted = absl::GetFlag(FLAGS_model);
  const int64_t steps = absl::GetFlag(FLAGS_steps);
  SLUICE_INVALID_IF(steps < 1, "--steps: expected at least 1, got ", steps);
  bool found = false;
  for (const ModelKind& kind : ModelKinds()) {
    if (wanted.empty()) {
      std::printf("%-26s%s\n", std::string(kind.name).c_str(), std::string(kind.about).c_str());
    }
    if (wanted != "all" && wanted != kind.name) continue;
    found = true;
    const absl::Status status = Train(kind, steps, absl::GetFlag(FLAGS_out));
    if (!status.ok()) return Annotate(status, StrCat(kind.name, ": "));
  }
  if (found || wanted.empty()) return absl::OkStatus();
  return InvalidArgument("--model: expected one of the models (listed without --model), got '",
                         wanted, "'");
}

}  // namespace
}  // namespace sluice::demos

int main(int argc, char** argv) {
  absl::SetProgramUsageMessage("Trains common models, built in C++; lists them without --model.");
  absl::ParseCommandLine(argc, argv);
  const absl::Status status = sluice::demos::Main();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
