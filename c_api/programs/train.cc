// The model that the other programs train, in C++: train MODEL CHECKPOINT. Writes the MetaGraphDef
// MODEL before it trains, and prints the bits of loss and weights.
#include <cstdio>

#include "executor/files/files.h"
#include "graph/format/meta_graph.h"
#include "graph/status.h"
#include "sluice.h"
using namespace sluice;

absl::Status Train(const std::string& model, const std::string& checkpoint) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {-1, 2}, "x");
  const Output y = Placeholder(g, DT_FLOAT, {-1, 1}, "y");
  const Variable hidden(g, "hidden", {2, 8}, GlorotUniform(1));
  const Variable last(g, "last", {8, 1}, GlorotUniform(2));
  const Output error = MatMul(Tanh(MatMul(x, hidden)), last) - y;
  const Output loss = Identity(ReduceMean(Square(error)), {.name = "loss"});
  const Output weights = Identity(last, {.name = "weights"});
  GlobalStep(g);
  SLUICE_ASSIGN_OR_RETURN(const pb::MetaGraphDef meta, ExportMetaGraphDef(g));
  SLUICE_RETURN_IF_ERROR(WriteFileAtomically(model, meta.SerializeAsString()));

  Tensor xs(DT_FLOAT, {8, 2}), ys(DT_FLOAT, {8, 1});
  for (int i = 0; i < 8; ++i) {
    float* row = xs.data<float>() + 2 * i;
    row[0] = static_cast<float>(i) / 8;
    row[1] = static_cast<float>(i % 3) / 4;
    ys.data<float>()[i] = row[0] * row[1];
  }
  const Variable step = GlobalStep(g);
  const Operation train = Adam({.learning_rate = 0.02f}).Minimize(loss, {.global_step = &step});
  const Operation init = InitializeVariables(g);
  Saver saver(g);
  Session session(g);
  SLUICE_RETURN_IF_ERROR(session.Run({init}));
  for (int i = 0; i < 200; ++i) {
    SLUICE_RETURN_IF_ERROR(session.Run({{x, xs}, {y, ys}}, {}, {train}).status());
  }
  SLUICE_ASSIGN_OR_RETURN(const Tensors out, session.Run({{x, xs}, {y, ys}}, {loss, weights}));
  SLUICE_RETURN_IF_ERROR(saver.Save(session, checkpoint, 200).status());
  for (size_t k = 0; k < out.size(); ++k) {
    std::printf(k == 0 ? "loss" : "weights");
    for (const float value : out[k].flat<float>()) {
      std::printf(" %08x", std::bit_cast<uint32_t>(value));
    }
    std::printf("\n");
  }
  return absl::OkStatus();
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const absl::Status status = Train(argv[1], argv[2]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
