// Writes events for events_test.py. FOLDER/writer gets all kinds of events of SummaryFileWriter,
// FOLDER/ops those of ops that write events. FOLDER/ops.pb is their graph, and FOLDER/ops.txt lists
// the nodes to run, one per line.
#include <cstdio>
#include <fstream>

#include "graph/format/graph_def.h"
#include "graph/format/proto/event.pb.h"
#include "graph/format/proto/summary.pb.h"
#include "sluice.h"
#include "training/summary/file_writer.h"
#include "training/summary/summary.h"

using namespace sluice;

namespace {

absl::Status Write(const std::string& logdir) {
  Graph g;
  const Output step = Placeholder(g, DT_FLOAT, {}, "step");
  const Output x = Constant(g, {-2.5f, 0.0f, 1e-3f, 7.0f}, "x");
  summary::Scalar("train/loss", step * 0.5f);
  summary::Histogram("x", x * step);
  summary::Image("picture", Fill({2, 3, 4, 3}, step), 1);
  summary::Audio("sound", Fill(g, {1, 8}, 0.25f), 8000.0f);
  summary::Text("note", Constant(g, "**bold**"));
  const Output all = summary::MergeAll(g);
  SLUICE_RETURN_IF_ERROR(g.status());
  auto writer = SummaryFileWriter::Open(logdir, &g);
  SLUICE_RETURN_IF_ERROR(writer.status());
  Session session(g);
  for (int i = 1; i <= 3; ++i) {
    RunMetadata metadata;
    const std::vector<Feed> feeds = {{step, Tensor::Scalar(static_cast<float>(i))}};
    const RunOptions traced = {.trace = true};
    const absl::StatusOr<Tensors> out = session.Run(feeds, {all}, {}, traced, &metadata);
    SLUICE_RETURN_IF_ERROR(out.status());
    SLUICE_RETURN_IF_ERROR((*writer)->AddSummary((*out)[0], i));
    SLUICE_RETURN_IF_ERROR((*writer)->AddRunMetadata(metadata, StrCat("step ", i), i));
  }
  return (*writer)->Close();
}

absl::Status WriteByOps(const std::string& folder) {
  Graph g;
  const auto number = [&](int32_t i) { return Constant(g, i); };
  const auto step = [&](int64_t i) { return Constant(g, i); };
  const auto text = [&](std::string_view s) { return Constant(g, s); };
  const Output logdir = Placeholder(g, DT_STRING, {}, "logdir");
  const Output writer = SummaryWriter(g, {.shared_name = "events"});
  pb::Summary summary;
  summary.add_value()->set_tag("imported");
  summary.mutable_value(0)->set_simple_value(7);
  pb::Event event;
  event.set_step(9);
  event.set_wall_time(123);
  *event.mutable_summary() = summary;
  const Output pixels = Constant(g, Tensor::Of<float>({1, 1, 2, 1}, {0.25f, 0.75f}));
  const Output red = Constant(g, Tensor::Vector<uint8_t>({255, 0, 0, 255}));
  const std::vector<Operation> ops = {
      CreateSummaryFileWriter(writer, logdir, number(3), number(1000), text(".sfx")),
      WriteScalarSummary(writer, step(1), text("scalar"), Constant(g, 2.5f)),
      WriteSummary(writer, step(2), Constant(g, {1.0f, 2.0f}), text("tensor"), text("")),
      WriteHistogramSummary(writer, step(3), text("histogram"), Constant(g, {-1.0f, 0.5f, 4.0f})),
      WriteImageSummary(writer, step(4), text("image"), pixels, red),
      WriteAudioSummary(writer, step(5), text("audio"),
                        Constant(g, Tensor::Of<float>({1, 2}, {0, 1})), Constant(g, 8000.0f)),
      WriteRawProtoSummary(writer, step(6),
                           Constant(g, Tensor::Vector<std::string>({summary.SerializeAsString()}))),
      WriteGraphSummary(writer, step(7), text(pb::GraphDef().SerializeAsString())),
      ImportEvent(writer, text(event.SerializeAsString())),
      FlushSummaryWriter(writer),
      CloseSummaryWriter(writer)};
  SLUICE_ASSIGN_OR_RETURN(const pb::GraphDef def, ExportGraphDef(g));
  std::ofstream(folder + "/ops.pb", std::ios::binary) << def.SerializeAsString();
  std::ofstream names(folder + "/ops.txt");
  Session session(g);
  for (const Operation& op : ops) {
    names << op.name() << "\n";
    SLUICE_RETURN_IF_ERROR(
        session.Run({{logdir, Tensor::Scalar(folder + "/ops")}}, {}, {op}).status());
  }
  return absl::OkStatus();
}

absl::Status WriteAll(const std::string& folder) {
  SLUICE_RETURN_IF_ERROR(Write(folder + "/writer"));
  return WriteByOps(folder);
}

}  // namespace

int main(int argc, char** argv) {
  const absl::Status status = argc == 2 ? WriteAll(argv[1]) : absl::InvalidArgumentError("FOLDER");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
