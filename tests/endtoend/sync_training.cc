#include "tests/endtoend/sync_training.h"

#include <barrier>
#include <random>
#include <thread>

namespace sluice {
namespace {

constexpr int64_t kFeatures = 6;

SyncNet BuildNet(Graph& g, bool use_resource) {
  SyncNet net;
  net.x = Placeholder(g, DT_FLOAT, {-1, kFeatures}, "x");
  net.y = Placeholder(g, DT_FLOAT, {-1, 1}, "y");
  const VariableOptions options = {.use_resource = use_resource};
  Variable w(g, "w", {kFeatures, 4}, RandomNormalInit(0, 0.5, 11), options);
  Variable b(g, "b", {4}, Zeros(), options);
  Variable v(g, "v", {4, 1}, RandomNormalInit(0, 0.5, 12), options);
  const Output hidden = Tanh(MatMul(net.x, w) + b);
  net.loss = ReduceMean(Square(MatMul(hidden, v) - net.y));
  net.variables = {w, b, v};
  return net;
}

std::vector<Feed> FeedsOf(const SyncNet& net, const SyncBatch& batch) {
  return {{net.x, batch.x}, {net.y, batch.y}};
}

}  // namespace

SyncBatch SyncBatch::Part(int i, int parts) const {
  const int64_t share = kSyncBatch / parts;
  return {x.SliceRows(i * share, (i + 1) * share), y.SliceRows(i * share, (i + 1) * share)};
}

SyncBatch BatchOfStep(int step) {
  std::mt19937 random(static_cast<uint32_t>(step) + 7);
  std::normal_distribution<float> normal;
  SyncBatch batch{Tensor(DT_FLOAT, {kSyncBatch, kFeatures}), Tensor(DT_FLOAT, {kSyncBatch, 1})};
  for (float& v : batch.x.flat<float>()) v = normal(random);
  for (float& v : batch.y.flat<float>()) v = normal(random);
  return batch;
}

absl::StatusOr<Tensors> TrainAlone(bool use_resource) {
  Graph g;
  SyncNet net = BuildNet(g, use_resource);
  Operation train = GradientDescent({.learning_rate = 0.1f}).Minimize(net.loss);
  const Operation init = InitializeVariables(g);
  const OutputList reads(net.variables.begin(), net.variables.end());
  Session session(g);
  SLUICE_RETURN_IF_ERROR(session.Run({init}));
  for (int step = 0; step < kSyncSteps; ++step) {
    SLUICE_RETURN_IF_ERROR(session.Run(FeedsOf(net, BatchOfStep(step)), {}, {train}).status());
  }
  return session.Run({}, reads, {});
}

SyncReplica::SyncReplica(int index, int replicas, bool use_resource,
                         std::shared_ptr<DeviceSet> devices, DataType wire_dtype)
    : SyncReplica(
          replicas, use_resource,
          [index](const NodeSpec& spec) {
            if (!spec.device.empty()) return spec.device;
            const bool is_variable = spec.op == "VariableV2" || spec.op == "VarHandleOp";
            return is_variable ? std::string("/device:CPU:0") : StrCat("/device:CPU:", index + 1);
          },
          wire_dtype) {
  session = std::make_unique<Session>(graph, SessionOptions{.devices = std::move(devices)});
}

SyncReplica::SyncReplica(int replicas, bool use_resource, const DeviceFunction& devices,
                         DataType wire_dtype)
    : optimizer(GradientDescent({.learning_rate = 0.1f}), {.replicas_to_aggregate = replicas,
                                                           .total_num_replicas = replicas,
                                                           .wire_dtype = wire_dtype}) {
  DeviceScope place(graph, devices);
  Variable step = GlobalStep(graph);
  net = BuildNet(graph, use_resource);
  train = optimizer.Minimize(net.loss, {.global_step = &step});
  init = InitializeVariables(graph);
  reads = OutputList(net.variables.begin(), net.variables.end());
}

absl::StatusOr<std::vector<std::unique_ptr<SyncReplica>>> MakeReplicas(int replicas,
                                                                       bool use_resource,
                                                                       DataType wire_dtype) {
  auto devices = DeviceSet::Cpus(replicas + 1);
  std::vector<std::unique_ptr<SyncReplica>> all;
  for (int i = 0; i < replicas; ++i) {
    all.push_back(std::make_unique<SyncReplica>(i, replicas, use_resource, devices, wire_dtype));
    SLUICE_RETURN_IF_ERROR(all.back()->graph.status());
  }
  return all;
}

absl::Status TrainStep(SyncReplica& replica, int step, int index, int replicas) {
  const SyncBatch part = BatchOfStep(step).Part(index, replicas);
  return replica.session->Run(FeedsOf(replica.net, part), {}, {replica.train}).status();
}

absl::StatusOr<Tensors> TrainTogether(std::vector<std::unique_ptr<SyncReplica>>& replicas) {
  const int count = static_cast<int>(replicas.size());
  SyncReplica& chief = *replicas[0];
  SLUICE_RETURN_IF_ERROR(chief.session->Run({chief.init}));
  SLUICE_RETURN_IF_ERROR(chief.session->Run({chief.optimizer.chief_init_op()}));
  for (auto& replica : replicas) {
    SLUICE_RETURN_IF_ERROR(replica->session->Run({replica->optimizer.local_step_init_op()}));
  }
  Coordinator coordinator;
  SLUICE_ASSIGN_OR_RETURN(QueueRunner runner, chief.optimizer.ChiefQueueRunner());
  runner.Start(*chief.session, coordinator);
  std::vector<std::thread> threads;
  std::vector<absl::Status> statuses(count);
  // A fast replica may take two tokens of one step, so its gradient replaces a slower one's. Here
  // each must push one gradient per step, so all start it together.
  std::barrier together(count);
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      SyncReplica& replica = *replicas[i];
      for (int step = 0; step < kSyncSteps && statuses[i].ok(); ++step) {
        together.arrive_and_wait();
        statuses[i] = TrainStep(replica, step, i, count);
      }
      together.arrive_and_drop();
    });
  }
  for (std::thread& t : threads) t.join();
  for (const absl::Status& s : statuses) SLUICE_RETURN_IF_ERROR(s);
  coordinator.RequestStop();
  SLUICE_RETURN_IF_ERROR(coordinator.Join());
  return chief.session->Run({}, chief.reads, {});
}

}  // namespace sluice
