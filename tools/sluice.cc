// The command-line tool sluice: inspects graphs and ops, runs graphs, serves and watches them.

#include <algorithm>
#include <cstdio>
#include <string>

#include "google/protobuf/stubs/logging.h"
#include "tools/commands/command.h"
#include "tools/commands/help.h"
#include "tools/commands/options.h"
#include "tools/commands/version.h"

namespace sluice {
namespace {

#define SLUICE_MODEL                                                                            \
  "MODEL is the file of a GraphDef or MetaGraphDef, binary or text, or the folder of a\n"       \
  "SavedModel (--tags=serve). A checkpoint for a graph file needs the nodes of a saver, or a\n" \
  "MetaGraphDef with its variables."

constexpr char kDemo[] =
    R"(Trains a network on Fashion-MNIST with synchronous replicas, of which the slowest is dropped in each
update. Says what will happen, shows progress and the remaining time, then the curves of loss and
accuracy, here and as pictures. Takes about a minute on two cores. The images are Debian's package
dataset-fashion-mnist, or four IDX files in --data.)";

constexpr char kInspect[] =
    R"(Of a graph: sizes, devices, ops, inputs, outputs, signatures, and the first problem. Of a
checkpoint (its path, or a folder, whose latest it is): the tensors, after all of them have been
read and their checksums compared, or with --tensor the values of one.

)" SLUICE_MODEL;

constexpr char kOps[] =
    R"(A row has the op's inputs, attributes, types with a kernel, and whether there is a gradient. With
--json it is {"op": …, "inputs": [names], "attrs": [names], "kernels": [dtypes], "gradient": …}.
"kernels" are the values of the op's first type attribute that a kernel takes; ["*"] without one.

With --against: what is missing of the ops in a file: ops, types of kernels, gradients, by tier. The
file is an array of {"op": name, "tier": number, "group": name, "cpu": [{attr: [dtypes]}],
"grad": file}.)";

constexpr char kRun[] =
    R"(Restores the variables from a checkpoint or the SavedModel; runs the ops of --init once, with the
feeds of the first step; then runs the steps, which fetch tensors and run the targets.

The keys of the feeds are tensor names, or with --signature names of the signature's inputs; fetches
likewise (by default all outputs of the signature). An array under "x:0#steps" has one more
dimension in front, and step i is fed row i.

The file of --out has the results of the last step under the names of the fetches, and if there are
several steps the results of all, stacked, under "<fetch>#steps" (unless their shapes differ).
Without --out the results are printed. With --json they are one object: {fetch: {"dtype": …,
"shape": …, "values": …}}. Strings are NumPy's 'S' or 'U' (written as 'S'); bfloat16 is read from
and written as float32.

)" SLUICE_MODEL;

constexpr char kTrace[] =
    R"(Runs steps as `sluice run` does (10, if nothing says how many). Of the last one it shows the time by
op, with GFLOP/s and GB/s, the longest nodes, gaps, and the critical path.

)" SLUICE_MODEL;

constexpr char kServer[] =
    R"(A task of a cluster, until SIGTERM. Its address is printed when it listens. Without --cluster and
--port the cluster is that of TF_CONFIG, SLURM_* or OMPI_* (mpirun -np N sluice server). Listens on
127.0.0.1; other addresses (--bind) need TLS (--tls_cert, --tls_key, --tls_ca), or --insecure, which
says that the network is trusted. Limits: --max_connections, --session_lost_s, --session_idle_s.
SIGTERM lets steps end for --drain_s seconds.)";

constexpr char kStalls[] =
    R"(Per waiting operation: node, queue or accumulator, its counts, and since when it waits.)";

constexpr char kTop[] =
    R"(Per task: steps begun and parts of steps run per second, ops that wait, bytes of tensors, memory, the
queues, accumulators and embedding tables on it, and what became of gradients. With --metrics_port a
server has the same numbers for Prometheus, at http://HOST:PORT/metrics.

With --web=PORT a page at http://127.0.0.1:PORT shows the same, lost tasks and what steps wait for, and
with --summaries the curves of a training run, and the gradients of each replica. --web_bind listens
on another address, with a token (--web_token_file) and TLS (--tls_cert, --tls_key).)";

constexpr Command kCommands[] = {
    {"See it work", "demo", "", "trains on Fashion-MNIST, and shows curves", "sluice demo", kDemo,
     DemoCommand},
    {"Run a model", "run", "MODEL", "runs steps of a graph with feeds, and shows the results",
     "sluice run model.pb --feeds=x.npz --fetches=y:0", kRun, RunCommand},
    {"Run a model", "trace", "MODEL", "runs steps, and shows where the time goes",
     "sluice trace model.pb --targets=train --chrome=step.json", kTrace, TraceCommand},
    {"Look into files", "inspect", "MODEL|CHECKPOINT",
     "describes a graph, a SavedModel or a checkpoint", "sluice inspect model.pb --json", kInspect,
     InspectCommand},
    {"Look into files", "ops", "", "lists the ops, with their types and gradients",
     "sluice ops --json", kOps, OpsCommand},
    {"Serve and watch a cluster", "server", "", "runs a task of a cluster for remote sessions",
     "sluice server --port=7077", kServer, ServerCommand},
    {"Serve and watch a cluster", "top", "grpc://HOST:PORT …",
     "shows how servers are doing, at intervals", "sluice top grpc://127.0.0.1:7077", kTop,
     TopCommand},
    {"Serve and watch a cluster", "stalls", "grpc://HOST:PORT …",
     "shows what the steps of servers wait for now", "sluice stalls grpc://127.0.0.1:7077", kStalls,
     StallsCommand},
};

const Command* Find(const std::string& name) {
  const auto* found = std::find_if(std::begin(kCommands), std::end(kCommands),
                                   [&name](const Command& c) { return name == c.name; });
  return found == std::end(kCommands) ? nullptr : found;
}

absl::Status PrintHelp(const Arguments& words) {
  if (words.empty()) {
    std::fputs(Overview(kCommands).c_str(), stdout);
    return absl::OkStatus();
  }
  const Command* command = Find(words[0]);
  if (command == nullptr) return UsageError("no command '" + words[0] + "'");
  std::fputs(HelpOf(*command).c_str(), stdout);
  return absl::OkStatus();
}

absl::Status PrintCompletion(const Arguments& words) {
  const absl::StatusOr<std::string> script = Completion(kCommands, words.empty() ? "" : words[0]);
  if (script.ok()) std::fputs(script->c_str(), stdout);
  return script.status();
}

absl::Status RunWords(Arguments words) {
  if (words.size() == 1 && words[0] == "--version") {
    std::fputs(VersionText().c_str(), stdout);
    return absl::OkStatus();
  }
  const bool wants_help = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "--help" || word == "-h";
  });
  if (wants_help) {
    return PrintHelp(words[0][0] == '-' ? Arguments() : Arguments{words[0]});
  }
  const absl::StatusOr<Arguments> parsed = ParseOptions(words);
  if (!parsed.ok()) return parsed.status();
  if (parsed->empty()) return UsageError("expected a command");
  const std::string& name = (*parsed)[0];
  const Arguments arguments(parsed->begin() + 1, parsed->end());
  if (name == "help") return PrintHelp(arguments);
  if (name == "completion") return PrintCompletion(arguments);
  const Command* command = Find(name);
  return command == nullptr ? UsageError("no command '" + name + "'") : command->run(arguments);
}

// Returns the exit code.
int Main(const Arguments& words) {
  const absl::Status status = RunWords(words);
  if (status.ok()) return 0;
  const bool names_command = !words.empty() && Find(words[0]) != nullptr;
  const std::string program = names_command ? "sluice " + words[0] : "sluice";
  if (!IsUsageError(status)) {
    std::fprintf(stderr, "%s: %s\n", program.c_str(), status.ToString().c_str());
    return 1;
  }
  const std::string help = names_command ? "sluice help " + words[0] : "sluice help";
  std::fprintf(stderr, "%s: %s\nSee: %s\n", program.c_str(), std::string(status.message()).c_str(),
               help.c_str());
  return 2;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  // Protobuf's errors are returned as a status, so its log is disabled.
  google::protobuf::SetLogHandler(nullptr);
  return sluice::Main(sluice::Arguments(argv + 1, argv + argc));
}
