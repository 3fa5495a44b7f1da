// Writes an event file with everything that SummaryFileWriter writes, for events_test.py.
#include <cstdio>

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

}  // namespace

int main(int argc, char** argv) {
  const absl::Status status = argc == 2 ? Write(argv[1]) : absl::InvalidArgumentError("FOLDER");
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
