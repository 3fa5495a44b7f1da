// Commands for checkpoint_test.py, which handle checkpoints, meta graphs and SavedModels:
//
//   copy FROM TO                           copies a checkpoint tensor by tensor, with its slices
//   model KIND PREFIX                      builds a model (plain, sharded, parts), trains 3 steps
//                                          and saves it
//   train META CHECKPOINT STEPS TO         restores a meta graph's model, trains and saves it
//                                          and prints the path
//   export FOLDER ASSET                    a SavedModel of y = 2 x + length of the asset
//   serve FOLDER X                         prints y of a SavedModel's "serving_default" for x = X
//
// Data of step i: x[r][c] = sin(i + 3 r + c), y = sum of x's row.

#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>

#include "executor/session/session.h"
#include "graph/build/scopes.h"
#include "graph/format/meta_graph.h"
#include "graph/format/text.h"
#include "graph/status.h"
#include "ops/builders/ops.h"
#include "ops/checkpoint/bundle.h"
#include "ops/embedding/partitioned_variable.h"
#include "ops/sugar.h"
#include "training/checkpoint/checkpoint_reader.h"
#include "training/checkpoint/saved_model.h"
#include "training/checkpoint/saver.h"
#include "training/optimizer/adam.h"

namespace sluice {
namespace {

absl::Status Copy(const std::string& from, const std::string& to) {
  SLUICE_ASSIGN_OR_RETURN(const auto reader, BundleReader::Open(from));
  SLUICE_ASSIGN_OR_RETURN(const auto writer, BundleWriter::Create(to));
  for (const std::string& name : reader->names()) {
    SLUICE_ASSIGN_OR_RETURN(const BundleReader::Entry entry, reader->Find(name));
    if (entry.slices.empty()) {
      SLUICE_ASSIGN_OR_RETURN(const Tensor tensor, reader->Read(name));
      SLUICE_RETURN_IF_ERROR(writer->Add(name, tensor));
    }
    for (const TensorSlice& slice : entry.slices) {
      SLUICE_ASSIGN_OR_RETURN(const Tensor part, reader->ReadSlice(name, slice));
      SLUICE_RETURN_IF_ERROR(writer->AddSlice(name, entry.shape, slice, part));
    }
  }
  return writer->Finish();
}

Tensor Inputs(int step) {
  Tensor x(DT_FLOAT, {4, 6});
  for (int r = 0; r < 4; ++r) {
    for (int c = 0; c < 6; ++c) {
      x.data<float>()[6 * r + c] = std::sin(static_cast<float>(step + 3 * r + c));
    }
  }
  return x;
}

Tensor Targets(const Tensor& x) {
  Tensor y(DT_FLOAT, {4, 1});
  for (int r = 0; r < 4; ++r) {
    y.data<float>()[r] = 0;
    for (int c = 0; c < 6; ++c) y.data<float>()[r] += x.data<float>()[6 * r + c];
  }
  return y;
}

// `step` is read once for all steps.
absl::Status TrainSteps(Session& session, Output x, Output y, Operation train, Output step,
                        int steps) {
  for (int i = 0; i < steps; ++i) {
    SLUICE_ASSIGN_OR_RETURN(const Tensors now, session.Run({}, {step}, {}));
    const Tensor xs = Inputs(static_cast<int>(now[0].scalar<int64_t>()));
    SLUICE_RETURN_IF_ERROR(session.Run({{x, xs}, {y, Targets(xs)}}, {}, {train}).status());
  }
  return absl::OkStatus();
}

absl::Status Model(std::string_view kind, const std::string& prefix) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {-1, 6}, "x");
  const Output y = Placeholder(g, DT_FLOAT, {-1, 1}, "y");
  Variable step = GlobalStep(g);
  Output weights;
  if (kind == "parts") {
    weights = PartitionedVariable(g, "w", {6, 1}, Zeros(), {3}).Read();
  } else {
    DeviceScope on(g, kind == "sharded" ? "/device:CPU:1" : "");
    weights = Variable(g, "w", {6, 1}, Zeros());
  }
  Variable b(g, "b", {1}, Zeros(), {.use_resource = false});
  Variable label(g, "label", Tensor::Scalar("text"), {.trainable = false});
  const Output loss = ReduceMean(Square(MatMul(x, weights) + b - y), {}, {.name = "loss"});
  const Operation train = Adam({.learning_rate = 0.1f}).Minimize(loss, {.global_step = &step});
  if (!train) return g.status();
  const Operation init = InitializeVariables(g);
  Saver saver(g, {.sharded = kind == "sharded"});
  Session session(g, {.cpu_devices = 2});
  SLUICE_RETURN_IF_ERROR(session.Run({init}));
  SLUICE_RETURN_IF_ERROR(TrainSteps(session, x, y, train, step, 3));
  return saver.Save(session, prefix, 3).status();
}

absl::Status Train(const std::string& file, const std::string& checkpoint, int steps,
                   const std::string& to) {
  SLUICE_ASSIGN_OR_RETURN(const std::string bytes, ReadWholeFile(file));
  SLUICE_ASSIGN_OR_RETURN(const pb::MetaGraphDef meta, ReadMetaGraphOrGraph(bytes));
  Graph g;
  SLUICE_ASSIGN_OR_RETURN(const ImportedMetaGraph imported, ImportMetaGraphDef(meta, g));
  SLUICE_ASSIGN_OR_RETURN(const auto saver, Saver::FromDef(imported.rest.saver_def(), g));
  SLUICE_ASSIGN_OR_RETURN(const Output x, g.FindOutput("x:0"));
  SLUICE_ASSIGN_OR_RETURN(const Output y, g.FindOutput("y:0"));
  const std::vector<std::string>& train = g.collections()["train_op"];
  if (train.empty()) return InvalidArgument("no train_op");
  Session session(g, {.cpu_devices = 2});
  SLUICE_RETURN_IF_ERROR(saver->Restore(session, checkpoint));
  SLUICE_RETURN_IF_ERROR(
      TrainSteps(session, x, y, Operation(g.Find(train[0])), GlobalStep(g), steps));
  SLUICE_ASSIGN_OR_RETURN(const std::string saved, saver->Save(session, to));
  std::printf("%s\n", saved.c_str());
  return absl::OkStatus();
}

absl::Status Export(const std::string& folder, const std::string& asset) {
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {-1}, "x");
  Variable two(g, "two", 2.0f);
  Variable length(g, "length", Tensor::Scalar(0.0f), {.collections = {"local_variables"}});
  const Output path = Constant(g, asset, "asset");
  const Output contents = ReadFile(path);
  const Output letters = Cast(Equal(contents, Constant(g, "five!")), DT_FLOAT) * Constant(g, 5.0f);
  const Operation init = length.Assign(letters);
  const Output y = x * two + length;
  const Operation first = InitializeVariables(g);
  Session session(g);
  SLUICE_RETURN_IF_ERROR(session.Run({first}));
  SavedModelBuilder builder(folder);
  SLUICE_RETURN_IF_ERROR(builder.AddMetaGraphAndVariables(
      session, {.signatures = {{"serving_default", {.inputs = {{"x", x}}, .outputs = {{"y", y}}}}},
                .assets = {path},
                .init_op = init}));
  return builder.Save().status();
}

absl::Status Serve(const std::string& folder, float at) {
  Graph g;
  SLUICE_ASSIGN_OR_RETURN(const SavedModel model, LoadSavedModel(folder, {"serve"}, g, "loaded"));
  Session session(g);
  SLUICE_RETURN_IF_ERROR(model.Restore(session));
  SLUICE_ASSIGN_OR_RETURN(const Signature signature, model.FindSignature("serving_default"));
  SLUICE_ASSIGN_OR_RETURN(const Tensors y,
                          session.Run({{signature.inputs.at("x"), Tensor::Vector<float>({at})}},
                                      {signature.outputs.at("y")}, {}));
  std::printf("%g\n", y[0].data<float>()[0]);
  return absl::OkStatus();
}

absl::Status Main(const std::vector<std::string>& words) {
  const std::string command = words.empty() ? "" : words[0];
  if (command == "copy" && words.size() == 3) return Copy(words[1], words[2]);
  if (command == "model" && words.size() == 3) return Model(words[1], words[2]);
  if (command == "train" && words.size() == 5) {
    return Train(words[1], words[2], std::stoi(words[3]), words[4]);
  }
  if (command == "export" && words.size() == 3) return Export(words[1], words[2]);
  if (command == "serve" && words.size() == 3) return Serve(words[1], std::stof(words[2]));
  return InvalidArgument("expected copy, model, train, export or serve, got '", command, "'");
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  const absl::Status status = sluice::Main({argv + 1, argv + argc});
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
