// A program that uses only the installed headers of Sluice: trains, saves, restores, runs a step on
// a server, prints. It is also linked with another library, which parses the graph with its own
// protocol messages.
#include <cstdio>

#include "executor/kernel/kernel.h"
#include "graph/format/graph_def.h"
#include "other.h"
#include "sluice.h"
#include "sluice_cluster.h"
using namespace sluice;

// Weights after training, and after a restart from a checkpoint.
absl::StatusOr<Tensor> TrainedAndRestored(Graph& g, const char* path) {
  Output x = Placeholder(g, DT_FLOAT, {-1, 2}, "x");
  Output y = Placeholder(g, DT_FLOAT, {-1, 1}, "y");
  Variable w(g, "w", {2, 1}, Zeros());
  Operation train = Adam({.learning_rate = 0.1f}).Minimize(ReduceMean(Square(MatMul(x, w) - y)));
  Operation init = InitializeVariables(g);
  Saver saver(g);
  const OutputList weights = {w};
  Tensor xs(DT_FLOAT, {4, 2}), ys(DT_FLOAT, {4, 1});  // y = 2 x0 - 3 x1
  for (int i = 0; i < 4; ++i) {
    const float a = static_cast<float>(i % 2), b = static_cast<float>(i / 2);
    xs.data<float>()[2 * i] = a;
    xs.data<float>()[2 * i + 1] = b;
    ys.data<float>()[i] = 2 * a - 3 * b;
  }
  Session session(g);
  SLUICE_RETURN_IF_ERROR(session.Run({init}));
  for (int step = 0; step < 500; ++step) {
    SLUICE_RETURN_IF_ERROR(session.Run({{x, xs}, {y, ys}}, {}, {train}).status());
  }
  SLUICE_ASSIGN_OR_RETURN(const std::string saved, saver.Save(session, path));
  Session restored(g);
  SLUICE_RETURN_IF_ERROR(saver.Restore(restored, saved));
  SLUICE_ASSIGN_OR_RETURN(const Tensors values, restored.Run({}, weights));
  return values[0];
}

// Layers, embeddings, servers and remote sessions are installed too.
absl::Status RunsOnAServer() {
  SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<Server> server, Server::Start({.port = 0}));
  Graph g;
  Variable table(g, "table", {4, 2}, Zeros());
  Output rows = EmbeddingLookup(table, Constant(g, Tensor::Vector<int32_t>({1, 3})));
  Output logits = layers::Dense(3)(rows);
  Operation init = InitializeVariables(g);
  SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                          RemoteSession::Connect(g, server->target()));
  SLUICE_RETURN_IF_ERROR(session->Run({init}));
  return session->Run({}, {logits}).status();
}

// All ops are linked, including those that this program does not name.
int OpsWithKernels() {
  int count = 0;
  for (const OpDef* op : OpRegistry::Global().All()) {
    count += KernelRegistry::Global().For(op->name).empty() ? 0 : 1;
  }
  return count;
}

int main(int argc, char** argv) {
  Graph g;
  absl::StatusOr<Tensor> w = TrainedAndRestored(g, argc > 1 ? argv[1] : "model");
  absl::StatusOr<pb::GraphDef> exported = ExportGraphDef(g);
  absl::Status status = w.status();
  status.Update(exported.status());
  status.Update(RunsOnAServer());
  if (!status.ok()) std::printf("%s\n", status.ToString().c_str());
  if (!status.ok()) return 1;
  std::printf("w = [%.0f %.0f]; %s first; %d ops\n", w->data<float>()[0], w->data<float>()[1],
              FirstOp(exported->SerializeAsString()).c_str(), OpsWithKernels());
  return 0;
}
