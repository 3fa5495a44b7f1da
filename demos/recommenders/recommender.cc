// Trains a recommender on a generated log:
//
//   bazel run //demos/recommenders:recommender -- --model=dlrm
//   bazel run //demos/recommenders:recommender -- --model=din --tasks=3 --format=csv
//
// The log is written to files first, unless they exist. With several tasks, one is a parameter
// server and the others are workers, each a process on this machine.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "demos/recommenders/export.h"
#include "demos/recommenders/log_files.h"
#include "demos/recommenders/training.h"
#include "demos/report/plot.h"
#include "demos/tasks/launcher.h"
#include "fmt/format.h"
#include "graph/status.h"
#include "training/loop/log.h"

ABSL_FLAG(std::string, model, "wdl", "wdl, dlrm, deepfm, dcnv2, din, dien, mmoe or two_tower");
ABSL_FLAG(int, tasks, 1, "processes, 1 to 4: with more than one, a parameter server and workers");
ABSL_FLAG(int64_t, steps, 2000, "updates");
ABSL_FLAG(int64_t, batch, 512, "rows per worker and step");
ABSL_FLAG(std::string, table, "static",
          "static: variables, in which keys share rows; dynamic: tables with a row for each key");
ABSL_FLAG(int64_t, rows_max, 100'000, "rows of a static table at most");
ABSL_FLAG(int64_t, log_rows, 500'000, "rows of the log; a tenth more for the test");
ABSL_FLAG(int64_t, keys_max, 1'000'000'000, "different keys of a feature at most");
ABSL_FLAG(std::string, format, "tfrecord", "tfrecord or csv");
ABSL_FLAG(std::string, data, "/tmp/sluice_recommenders", "folder of the logs");
ABSL_FLAG(std::string, out, ".", "folder of the picture");
ABSL_FLAG(std::string, export_graphs, "",
          "writes the graphs of all models for TensorFlow into this folder, instead of training");
ABSL_FLAG(std::string, cluster, "", "of one task: {\"ps\": [\"host:port\"], \"worker\": [...]}");
ABSL_FLAG(std::string, task, "", "of one task: \"worker:1\"");

namespace sluice::recommenders {
namespace {

void Print(const std::string& line) {
  // The launcher prints the lines of its tasks that begin so.
  std::printf("%s%s\n", absl::GetFlag(FLAGS_task).empty() ? "" : "print ", line.c_str());
  std::fflush(stdout);
}

std::string LogFile(const ModelKind& model, const char* part) {
  return fmt::format("{}/{}_{}_{}_{}.{}", absl::GetFlag(FLAGS_data),
                     model.log == LogKind::kClicks ? "clicks" : "purchases",
                     absl::GetFlag(FLAGS_log_rows), absl::GetFlag(FLAGS_keys_max), part,
                     absl::GetFlag(FLAGS_format));
}

// Writes the logs that do not exist. A file gets its name when it is complete.
absl::Status WriteLogs(const ModelKind& model) {
  const Log log = MakeLog(model.log, {.keys_max = absl::GetFlag(FLAGS_keys_max)});
  const int64_t rows = absl::GetFlag(FLAGS_log_rows);
  std::error_code error;
  std::filesystem::create_directories(absl::GetFlag(FLAGS_data), error);
  const auto write = [&](const char* part, int64_t first, int64_t count) -> absl::Status {
    const std::string path = LogFile(model, part);
    if (std::filesystem::exists(path, error)) return absl::OkStatus();
    Print(fmt::format("writing {} rows to {}", count, path));
    const std::string partial = LogFile(model, "partial");
    SLUICE_RETURN_IF_ERROR(WriteLog(log, first, count, partial));
    std::filesystem::rename(partial, path, error);
    if (error) return absl::UnavailableError(StrCat("cannot write '", path, "'"));
    return absl::OkStatus();
  };
  SLUICE_RETURN_IF_ERROR(write("train", 0, rows));
  return write("test", rows, rows / 10);
}

std::string AucText(const std::vector<double>& aucs) {
  std::string text = "AUC";
  for (const double auc : aucs) text += fmt::format(" {:.4f}", auc);
  return text;
}

// The AUC of the known probabilities, which no model can exceed except by chance.
std::vector<double> BestAucs(const ModelKind& model, size_t tasks) {
  const Log log = MakeLog(model.log, {.keys_max = absl::GetFlag(FLAGS_keys_max)});
  const int64_t rows = absl::GetFlag(FLAGS_log_rows);
  const Impressions test = log.rows(rows, rows / 10);
  std::vector<double> aucs;
  for (size_t task = 0; task < tasks; ++task) {
    aucs.push_back(AreaUnderCurve(test.columns[0], test.probabilities, static_cast<int64_t>(task)));
  }
  return aucs;
}

absl::Status DrawCurves(const ModelKind& model, const TrainingResult& result) {
  std::vector<demos::Panel> panels = {{"loss", "training loss", result.loss_steps, result.losses}};
  const char* const labels[] = {"clicked", "carted", "bought"};
  for (size_t task = 0; task < result.aucs.size(); ++task) {
    panels.push_back(
        {StrCat("AUC of ", labels[task]), "test log", result.auc_steps, result.aucs[task]});
  }
  const std::string path = StrCat(absl::GetFlag(FLAGS_out), "/", model.name);
  const absl::Status status =
      demos::Draw(path, demos::CurvesPlot(std::string(model.name), "global step", panels));
  if (absl::IsFailedPrecondition(status)) {
    Print(std::string(status.message()));
    return absl::OkStatus();
  }
  SLUICE_RETURN_IF_ERROR(status);
  Print(StrCat("wrote ", path, ".svg"));
  return absl::OkStatus();
}

TrainingOptions OptionsFromFlags(const ModelKind& model) {
  TrainingOptions options;
  options.model = &model;
  options.train_file = LogFile(model, "train");
  options.test_file = LogFile(model, "test");
  options.tables.rows_max = absl::GetFlag(FLAGS_rows_max);
  if (absl::GetFlag(FLAGS_table) == "dynamic") options.tables.kind = TableKind::kDynamic;
  options.batch = absl::GetFlag(FLAGS_batch);
  options.steps = absl::GetFlag(FLAGS_steps);
  options.on_evaluation = [](int64_t step, const std::vector<double>& aucs) {
    Print(fmt::format("step {}  {}", step, AucText(aucs)));
  };
  return options;
}

absl::Status TrainAndReport(const ModelKind& model, const TrainingOptions& options) {
  SLUICE_ASSIGN_OR_RETURN(const TrainingResult result, Train(options));
  if (options.cluster != nullptr && !options.cluster->is_chief()) return absl::OkStatus();
  Print(fmt::format("{:.0f} samples/s, {:.0f} MB", result.samples_per_s, PeakMegabytes()));
  Print("planted truth: " + AucText(BestAucs(model, result.aucs.size())));
  return DrawCurves(model, result);
}

// One process of a cluster. A parameter server runs until its standard input ends.
absl::Status RunTask(const ModelKind& model) {
  Cluster cluster;
  SLUICE_ASSIGN_OR_RETURN(cluster.spec, ClusterSpec::FromJson(absl::GetFlag(FLAGS_cluster)));
  const std::string task = absl::GetFlag(FLAGS_task);
  const size_t colon = task.find(':');
  SLUICE_INVALID_IF(colon == std::string::npos, "--task: expected job:number, got '", task, "'");
  cluster.task = {task.substr(0, colon), std::atoi(task.c_str() + colon + 1)};
  ServerOptions serve;
  serve.cluster = cluster;
  SLUICE_ASSIGN_OR_RETURN(const auto server, Server::Start(serve));
  if (cluster.task.job == "ps") {
    char byte;
    while (read(STDIN_FILENO, &byte, 1) > 0) {
    }
    Print(fmt::format("parameter server: {:.0f} MB", PeakMegabytes()));
    server->Stop();
    return absl::OkStatus();
  }
  TrainingOptions options = OptionsFromFlags(model);
  options.server = server.get();
  options.cluster = &cluster;
  auto reported = std::chrono::steady_clock::time_point();
  options.on_step = [&](int64_t global_step, int64_t local_step, double loss) {
    const auto now = std::chrono::steady_clock::now();
    if (now - reported < std::chrono::milliseconds(200)) return;
    reported = now;
    std::printf("at %lld %lld %f\n", static_cast<long long>(global_step),
                static_cast<long long>(local_step), loss);
    std::fflush(stdout);
  };
  return TrainAndReport(model, options);
}

absl::Status Main(const std::vector<std::string>& arguments) {
  SetLogSink([](LogSeverity severity, const std::string& line) {
    if (severity != LogSeverity::kInfo) std::fprintf(stderr, "%s\n", line.c_str());
  });
  const std::string folder = absl::GetFlag(FLAGS_export_graphs);
  if (!folder.empty()) return ExportGraphs(folder, absl::GetFlag(FLAGS_batch));
  const ModelKind* const model = FindModel(absl::GetFlag(FLAGS_model));
  SLUICE_INVALID_IF(model == nullptr, "--model: expected a model, got '",
                    absl::GetFlag(FLAGS_model), "'");
  const std::string table = absl::GetFlag(FLAGS_table);
  SLUICE_INVALID_IF(table != "static" && table != "dynamic",
                    "--table: expected static or dynamic, got '", table, "'");
  if (!absl::GetFlag(FLAGS_task).empty()) return RunTask(*model);
  const int tasks = absl::GetFlag(FLAGS_tasks);
  SLUICE_INVALID_IF(tasks < 1 || tasks > 4, "--tasks: expected 1 to 4, got ", tasks);
  SLUICE_RETURN_IF_ERROR(WriteLogs(*model));
  if (tasks == 1) return TrainAndReport(*model, OptionsFromFlags(*model));
  demos::LaunchOptions launch;
  launch.workers = tasks - 1;
  launch.steps = absl::GetFlag(FLAGS_steps);
  launch.batch = absl::GetFlag(FLAGS_batch);
  launch.command = [&](const ClusterSpec& spec, const TaskName& task) {
    std::vector<std::string> command = arguments;
    command.push_back("--cluster=" + spec.ToJson());
    command.push_back(StrCat("--task=", task.job, ":", task.index));
    return command;
  };
  return demos::Launch(launch).status();
}

}  // namespace
}  // namespace sluice::recommenders

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv, argv + argc);
  absl::SetProgramUsageMessage("Trains recommenders on generated logs.");
  absl::ParseCommandLine(argc, argv);
  if (absl::Status status = sluice::recommenders::Main(arguments); !status.ok()) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  return 0;
}
