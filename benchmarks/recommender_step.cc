// Compares the training step of a recommender with dynamic tables and the same step with static
// tables.
//
//   recommender_step [model] [turns] [rows_max of static tables]
//
// Both models are trained in one process on the same batches, alternately. Prints the median
// processor time and wall time of a step of each model, and the medians of the ratios of adjacent
// measurements. For wdl, the ratios must be at most 1.1.
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "demos/recommenders/model.h"
#include "graph/status.h"
#include "sluice.h"

namespace sluice::recommenders {
namespace {

constexpr int64_t kBatch = 512;
constexpr int kBatches = 64, kStepsPerTurn = 32;

// Returns batches of a click log, with hashed words. Each field has as many different words as in
// Criteo's log.
absl::StatusOr<std::vector<Tensors>> Batches() {
  Graph g;
  const Output words = Placeholder(g, DT_STRING, {.name = "words"});
  const Output counts = Placeholder(g, DT_FLOAT, {.name = "counts"});
  const Output hashes = StringToHashBucketFast(words, int64_t{1} << 62);
  const Output numbers = Log1p(counts);
  Session session(g);
  const Log log = MakeLog(LogKind::kClicks, {});
  std::vector<Tensors> batches;
  for (int64_t i = 0; i < kBatches; ++i) {
    const Impressions rows = log.rows(i * kBatch, kBatch);
    SLUICE_ASSIGN_OR_RETURN(
        const Tensors made,
        session.Run({{counts, rows.columns[1]}, {words, rows.columns[2]}}, {numbers, hashes}, {}));
    batches.push_back({rows.columns[0], made[0], made[1]});
  }
  return batches;
}

struct Times {
  double processor_ms = 0, wall_ms = 0;
};

class Trained {
 public:
  Trained(const ModelKind& kind, const TableOptions& options) {
    graph_.SetRandomSeed(1);
    in_ = PlaceholdersOf(graph_, kind.log, kBatch);
    Tables tables(graph_, options);
    const Model model = kind.build(tables, in_);
    train_ = Minimize(kind, model);
    init_ = InitializeVariables(graph_);
  }
  absl::Status Start() {
    SLUICE_RETURN_IF_ERROR(graph_.status());
    session_ = std::make_unique<Session>(graph_);
    return session_->Run({init_});
  }
  absl::Status Step(const Tensors& batch) {
    return session_
        ->Run({{in_.labels, batch[0]}, {in_.numbers, batch[1]}, {in_.words, batch[2]}}, {},
              {train_})
        .status();
  }
  absl::StatusOr<Times> Turn(const std::vector<Tensors>& batches, int first, int steps) {
    const auto wall = std::chrono::steady_clock::now();
    const double processor = ProcessorMs();
    for (int i = 0; i < steps; ++i) {
      SLUICE_RETURN_IF_ERROR(Step(batches[static_cast<size_t>(first + i) % batches.size()]));
    }
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - wall;
    return Times{(ProcessorMs() - processor) / steps, took.count() / steps};
  }

 private:
  static double ProcessorMs() {
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
  }

  Graph graph_;
  Features in_;
  Operation train_, init_;
  std::unique_ptr<Session> session_;
};

double Median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<int64_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

absl::Status Compare(const ModelKind& kind, int turns, int64_t rows_max) {
  SLUICE_ASSIGN_OR_RETURN(const std::vector<Tensors> batches, Batches());
  Trained with_static(kind, {.kind = TableKind::kStatic, .rows_max = rows_max});
  Trained with_dynamic(kind, {.kind = TableKind::kDynamic});
  for (Trained* model : {&with_static, &with_dynamic}) {
    SLUICE_RETURN_IF_ERROR(model->Start());
    // All keys of the batches have records before the first turn.
    SLUICE_RETURN_IF_ERROR(model->Turn(batches, 0, kBatches).status());
  }
  std::vector<double> times[4], ratios[2];
  for (int turn = 0; turn < turns; ++turn) {
    const bool static_first = turn % 2 == 0;
    Times of[2];
    for (const int i : {0, 1}) {
      const int which = static_first ? i : 1 - i;
      Trained& model = which == 0 ? with_static : with_dynamic;
      SLUICE_ASSIGN_OR_RETURN(of[which], model.Turn(batches, turn * kStepsPerTurn, kStepsPerTurn));
    }
    for (const int i : {0, 1}) {
      times[2 * i].push_back(of[i].processor_ms);
      times[2 * i + 1].push_back(of[i].wall_ms);
    }
    ratios[0].push_back(of[1].processor_ms / of[0].processor_ms);
    ratios[1].push_back(of[1].wall_ms / of[0].wall_ms);
  }
  for (const int i : {0, 1}) {
    std::printf("%s %-7s %7.3f ms of processor time, %7.3f ms per step\n",
                std::string(kind.name).c_str(), i == 0 ? "static" : "dynamic", Median(times[2 * i]),
                Median(times[2 * i + 1]));
  }
  std::printf("dynamic / static: %.3f of processor time, %.3f of wall time\n", Median(ratios[0]),
              Median(ratios[1]));
  return absl::OkStatus();
}

}  // namespace
}  // namespace sluice::recommenders

int main(int argc, char** argv) {
  using namespace sluice::recommenders;
  const ModelKind* kind = FindModel(argc > 1 ? argv[1] : "wdl");
  const int turns = argc > 2 ? std::atoi(argv[2]) : 21;
  const int64_t rows_max = argc > 3 ? std::atoll(argv[3]) : 100'000;
  if (kind == nullptr || kind->log != LogKind::kClicks || turns < 1 || rows_max < 1) {
    std::fprintf(stderr, "usage: recommender_step [model of a click log] [turns] [rows_max]\n");
    return 2;
  }
  const absl::Status status = Compare(*kind, turns, rows_max);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
