// Deterministic synchronous training: equal seeds give equal bits, with replicas in threads of any
// interleaving, and with any number of threads per op.
#include <memory>
#include <random>
#include <vector>

#include "executor/wait/cancellation.h"
#include "gmock/gmock.h"
#include "graph/status.h"
#include "gtest/gtest.h"
#include "sluice.h"

namespace sluice {
namespace {

constexpr int kUpdates = 12;
constexpr int64_t kWords = 50;
constexpr int64_t kBatch = 32;

enum class Form { kAccumulators, kQueues };

// One replica: embeddings of words are looked up, added up, and classified. Its session is the last
// member, because it must not outlive the graph.
struct Replica {
  Replica(Form form, int index, int replicas, int aggregate, int threads,
          std::shared_ptr<DeviceSet> devices) {
    const std::string own = StrCat("/device:CPU:", index + 1);
    DeviceScope place(graph, [own](const NodeSpec& spec) -> std::string {
      if (!spec.device.empty()) return spec.device;
      return spec.op == "VariableV2" || spec.op == "VarHandleOp" ? "/device:CPU:0" : own;
    });
    const Variable step = GlobalStep(graph);
    const Variable table(graph, "table", {kWords, 64}, RandomNormalInit(0, 0.3, 1));
    const Variable w(graph, "w", {64, 48}, RandomNormalInit(0, 0.3, 2));
    const Variable v(graph, "v", {48, 10}, RandomNormalInit(0, 0.3, 3));
    words = Placeholder(graph, DT_INT32, {kBatch, 5}, "words");
    labels = Placeholder(graph, DT_INT32, {kBatch}, "labels");
    Output rows;
    {
      DeviceScope with_table(graph, table.device());
      rows = Gather(table, words);
    }
    const Output hidden = Tanh(MatMul(ReduceSum(rows, 1), w));
    const Output loss =
        ReduceMean(SparseSoftmaxCrossEntropyWithLogits(MatMul(hidden, v), labels).loss);
    const SyncReplicasOptions options = {.replicas_to_aggregate = aggregate,
                                         .total_num_replicas = replicas,
                                         .replica_id = index,
                                         .deterministic = true};
    Adam adam({.learning_rate = 0.01f});
    if (form == Form::kAccumulators) {
      optimizer = std::make_unique<SyncReplicasOptimizer>(std::move(adam), options);
    } else {
      optimizer = std::make_unique<LegacySyncReplicasOptimizer>(std::move(adam), options);
    }
    train = optimizer->Minimize(loss, {.global_step = &step});
    tokens = optimizer->InitTokensOp().value_or(Operation());
    init = InitializeVariables(graph);
    values = {table.Read(), w.Read(), v.Read()};
    session = std::make_unique<Session>(
        graph, SessionOptions{.devices = std::move(devices), .intra_op_threads = threads});
  }

  std::vector<Feed> Batch(int index, int step) const {
    std::mt19937 random(static_cast<uint32_t>(1000 * index + step));
    Tensor ids(DT_INT32, {kBatch, 5}), classes(DT_INT32, {kBatch});
    for (int32_t& id : ids.flat<int32_t>()) id = static_cast<int32_t>(random() % kWords);
    for (int32_t& c : classes.flat<int32_t>()) c = static_cast<int32_t>(random() % 10);
    return {{words, ids}, {labels, classes}};
  }

  Graph graph;
  std::unique_ptr<ReplicaSynchronizer> optimizer;
  Output words, labels;
  Operation train, tokens, init;
  OutputList values;
  std::unique_ptr<Session> session;
};

// All bytes of all variables after training.
absl::StatusOr<std::vector<std::string>> Train(Form form, int replicas, int aggregate,
                                               int threads) {
  auto devices = DeviceSet::Cpus(replicas + 1);
  std::vector<std::unique_ptr<Replica>> all;
  for (int i = 0; i < replicas; ++i) {
    all.push_back(std::make_unique<Replica>(form, i, replicas, aggregate, threads, devices));
    SLUICE_RETURN_IF_ERROR(all.back()->graph.status());
  }
  Replica& chief = *all[0];
  SLUICE_RETURN_IF_ERROR(chief.session->Run({chief.init}));
  SLUICE_RETURN_IF_ERROR(chief.session->Run({chief.optimizer->LocalInitOp(true)}));
  SLUICE_RETURN_IF_ERROR(chief.session->Run({chief.tokens}));
  for (auto& replica : all) {
    SLUICE_RETURN_IF_ERROR(replica->session->Run({replica->optimizer->LocalInitOp(false)}));
  }
  Coordinator coordinator;
  std::vector<absl::Status> ends(replicas);
  CancellationManager cancellation;  // a replica that fails ends the chief too
  for (int i = 0; i < replicas; ++i) {
    coordinator.Start(StrCat("replica ", i), [&, i]() -> absl::Status {
      for (int step = 0; ends[i].ok(); ++step) {
        Replica& r = *all[i];
        ends[i] = r.session->Run(r.Batch(i, step), {}, {r.train}).status();
      }
      if (!absl::IsOutOfRange(ends[i])) cancellation.StartCancel();
      return absl::OkStatus();
    });
  }
  absl::Status updated;
  for (int update = 0; update < kUpdates && updated.ok(); ++update) {
    updated =
        chief.session->Run({}, {}, {chief.optimizer->sync_op()}, {.cancellation = &cancellation})
            .status();
  }
  SLUICE_ASSIGN_OR_RETURN(Tensors values, chief.session->Run({}, chief.values, {}));
  SLUICE_ASSIGN_OR_RETURN(const QueueRunner runner, chief.optimizer->ChiefQueueRunner());
  SLUICE_RETURN_IF_ERROR(chief.session->Run({runner.cancel_op}));
  SLUICE_RETURN_IF_ERROR(coordinator.Join());
  for (const absl::Status& end : ends) {
    if (!absl::IsOutOfRange(end)) return end;
  }
  SLUICE_RETURN_IF_ERROR(updated);
  std::vector<std::string> bytes;
  for (const Tensor& t : values) {
    bytes.emplace_back(static_cast<const char*>(t.raw()), t.num_elements() * sizeof(float));
  }
  return bytes;
}

class DeterministicTraining : public ::testing::TestWithParam<Form> {};

TEST_P(DeterministicTraining, GivesTheSameBitsWithAnyNumberOfThreads) {
  for (const auto& [replicas, aggregate] : {std::pair(3, 3), std::pair(2, 5)}) {
    absl::StatusOr<std::vector<std::string>> first = Train(GetParam(), replicas, aggregate, 1);
    ASSERT_TRUE(first.ok()) << first.status();
    for (const int threads : {1, 2, 4}) {
      absl::StatusOr<std::vector<std::string>> again =
          Train(GetParam(), replicas, aggregate, threads);
      ASSERT_TRUE(again.ok()) << again.status();
      for (size_t i = 0; i < first->size(); ++i) {
        EXPECT_TRUE((*again)[i] == (*first)[i])
            << "variable " << i << ", " << replicas << " replicas, " << threads << " threads";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, DeterministicTraining,
                         ::testing::Values(Form::kAccumulators, Form::kQueues),
                         [](const auto& info) {
                           return info.param == Form::kQueues ? "Queues" : "Accumulators";
                         });

}  // namespace
}  // namespace sluice
