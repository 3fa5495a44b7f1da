// dump SUBJECT FOLDER: builds the subject's graphs and runs them. For each graph, writes the
// GraphDef (<name>.pb) and a description of its steps and results (<name>.txt: lines "init op",
// "target op", "after op", "fetch tensor", "steps n", "collection key names…", "fact …", "value
// step fetch numbers…").
#include <cstdio>
#include <fstream>
#include <map>
#include <string>

#include "graph/format/graph_def.h"
#include "graph/status.h"
#include "tests/oracle/training/examples.h"

namespace sluice {
namespace {

double NumberAt(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DT_FLOAT:
      return t.data<float>()[i];
    case DT_DOUBLE:
      return t.data<double>()[i];
    case DT_HALF:
      return static_cast<float>(t.data<half>()[i]);
    case DT_INT32:
      return t.data<int32_t>()[i];
    case DT_INT64:
      return static_cast<double>(t.data<int64_t>()[i]);
    case DT_BOOL:
      return t.data<bool>()[i] ? 1 : 0;
    default:
      return -12345;  // compared with TensorFlow's, so a missing type fails
  }
}

std::string Line(int step, size_t fetch, const Tensor& t) {
  std::string line = StrCat("value ", step, " ", fetch);
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    char number[32];
    std::snprintf(number, sizeof(number), " %.17g", NumberAt(t, i));
    line += number;
  }
  return line;
}

absl::Status Run(Graph& g, const Spec& spec, std::ofstream& text) {
  Session session(g, {.cpu_devices = 4});
  for (const Operation& op : spec.init) SLUICE_RETURN_IF_ERROR(session.Run({op}));
  for (int step = 0; step < spec.steps; ++step) {
    SLUICE_RETURN_IF_ERROR(session.Run(spec.targets));
    if (!spec.after.empty()) SLUICE_RETURN_IF_ERROR(session.Run(spec.after));
    SLUICE_ASSIGN_OR_RETURN(const Tensors values, session.Run({}, spec.fetches));
    for (size_t i = 0; i < values.size(); ++i) text << Line(step, i, values[i]) << "\n";
  }
  return absl::OkStatus();
}

absl::Status Write(const Example& example, const std::string& folder) {
  Graph g;
  Spec spec;
  example.build(g, spec);
  SLUICE_RETURN_IF_ERROR(g.status());
  SLUICE_ASSIGN_OR_RETURN(const pb::GraphDef def, ExportGraphDef(g, {}));
  std::ofstream graph(StrCat(folder, "/", example.name, ".pb"), std::ios::binary);
  def.SerializeToOstream(&graph);
  std::ofstream text(StrCat(folder, "/", example.name, ".txt"));
  for (const Operation& t : spec.init) text << "init " << t.name() << "\n";
  for (const Operation& t : spec.targets) text << "target " << t.name() << "\n";
  for (const Operation& t : spec.after) text << "after " << t.name() << "\n";
  for (const Output& f : spec.fetches) text << "fetch " << f.name() << "\n";
  text << "steps " << spec.steps << "\n";
  for (const auto& [key, names] : g.collections()) {
    text << "collection " << key;
    for (const std::string& name : names) text << " " << name;
    text << "\n";
  }
  for (const std::string& fact : spec.facts) text << "fact " << fact << "\n";
  SLUICE_RETURN_IF_ERROR(Run(g, spec, text));
  return graph.flush() && text.flush() ? absl::OkStatus()
                                       : absl::UnknownError("cannot write " + folder);
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  const std::map<std::string, std::vector<sluice::Example> (*)()> subjects = {
      {"averages", sluice::AverageExamples},   {"layers", sluice::LayerExamples},
      {"metrics", sluice::MetricExamples},     {"optimizers", sluice::OptimizerExamples},
      {"schedules", sluice::ScheduleExamples},
  };
  auto subject = subjects.find(argc == 3 ? argv[1] : "");
  if (subject == subjects.end()) {
    std::fprintf(stderr, "usage: dump SUBJECT FOLDER\n");
    return 2;
  }
  int failures = 0;
  for (const sluice::Example& example : subject->second()) {
    const absl::Status status = sluice::Write(example, argv[2]);
    if (status.ok()) continue;
    std::fprintf(stderr, "%s: %s\n", example.name.c_str(), status.ToString().c_str());
    ++failures;
  }
  return failures;
}
