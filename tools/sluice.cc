// The command-line tool sluice: inspects graphs and ops, runs graphs, and serves them.

#include <algorithm>
#include <cstdio>
#include <string>

#include "absl/flags/parse.h"
#include "absl/flags/usage.h"
#include "absl/flags/usage_config.h"
#include "absl/strings/match.h"
#include "google/protobuf/stubs/logging.h"
#include "tools/commands/command.h"

namespace sluice {
namespace {

constexpr char kUsage[] = R"(looks at graphs and ops, runs graphs, and serves them.

  sluice ops [--json | --markdown]
      Lists the ops: inputs, attributes, types with a kernel, whether there is a gradient. With --json a row is
      {"op": …, "inputs": [names], "attrs": [names], "kernels": [dtypes], "gradient": true|false}. "kernels" are
      the values of the op's first type attribute that a kernel takes; ["*"] where it has none.

  sluice ops --against OPS.json
      What is missing of the ops in a file: ops, types of kernels, gradients, by tier. The file is an array of
      {"op": name, "tier": number, "group": name, "cpu": [{attr: [dtypes]}], "grad": where}.

  sluice inspect MODEL
      Sizes, devices, ops, inputs, outputs, signatures, and the first problem of each graph.

  sluice inspect CHECKPOINT [--tensor NAME]
      The tensors of a checkpoint (its path, or a folder, whose latest it is), after all of them have been read and
      their checksums compared; or the values of one.

  sluice run MODEL [--checkpoint C] [--signature S] [--feeds F.npz] [--fetches a:0,b:0] [--targets op,…]
             [--init op,…] [--steps N] [--out O.npz]
      Restores the variables from a checkpoint or the SavedModel; runs the ops of --init once, with the feeds of the
      first step; then N steps that fetch and run the targets. The keys of F.npz are tensor names, or with --signature
      names of the signature's inputs; fetches likewise (by default all outputs of the signature). An array under "x:0#steps" has one more dimension in front, of N, and step i is fed row i;
      without --steps there are as many steps as rows, or one. O.npz has the results of the last step under the names
      of the fetches, and where there were steps to count the results of all steps, stacked, under "<fetch>#steps"
      (unless their shapes differ). Without --out the results are printed.
      Strings are NumPy's 'S' or 'U' (written as 'S'); bfloat16 is read from and written as float32.

  sluice trace MODEL [--feeds …] [--fetches …] [--targets …] [--init …] [--steps N] [--chrome T.json]
      The same steps (10, where nothing says how many); of the last one where its time went: by op, with GFLOP/s and
      GB/s, the longest nodes, gaps, and the critical path. T.json is for chrome://tracing and Perfetto.

  sluice server --port=P [--cpus=N]
  sluice server --cluster='{"ps": ["127.0.0.1:7000"], "worker": ["127.0.0.1:7001"]}' --job=ps --task=0
      A task of a cluster, until SIGTERM; its address is printed when it listens. Without --cluster and --port the
      cluster is that of TF_CONFIG, SLURM_* or OMPI_* (mpirun -np N sluice server). Listens on 127.0.0.1; other addresses
      (--bind) need TLS (--tls_cert, --tls_key, --tls_ca), or --insecure, which says that the network is trusted.

  sluice stalls grpc://HOST:PORT …
      What the steps of these servers wait for at this moment: node, queue or accumulator, its counts, since when.

  sluice top grpc://HOST:PORT … [--every_ms=1000] [--times=N]
      How these servers are doing: steps begun and parts of steps run a second, ops that wait, bytes of tensors, memory,
      the queues and accumulators on them, and what became of gradients. With --metrics_port a server has the same
      numbers for Prometheus, at http://HOST:PORT/metrics.

MODEL is the file of a GraphDef or MetaGraphDef, binary or text, or the folder of a SavedModel (--tags=serve). A
checkpoint for a graph file needs the nodes of a saver, or a MetaGraphDef with its variables.)";

struct Command {
  const char* name;
  absl::Status (*run)(const Arguments&);
};
constexpr Command kCommands[] = {{"inspect", InspectCommand}, {"ops", OpsCommand},
                                 {"run", RunCommand},         {"server", ServerCommand},
                                 {"stalls", StallsCommand},   {"top", TopCommand},
                                 {"trace", TraceCommand}};

int Main(const Arguments& words) {
  const auto* command =
      std::find_if(std::begin(kCommands), std::end(kCommands),
                   [&words](const Command& c) { return words.size() > 1 && words[1] == c.name; });
  if (command == std::end(kCommands)) {
    std::fprintf(stderr, "sluice %s\n", kUsage);
    return 2;
  }
  const absl::Status status = command->run(Arguments(words.begin() + 2, words.end()));
  if (status.ok()) return 0;
  std::fprintf(stderr, "sluice %s: %s\n", command->name, status.ToString().c_str());
  return 1;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  // Protobuf's errors are returned as a status, so its log is disabled.
  google::protobuf::SetLogHandler(nullptr);
  absl::SetProgramUsageMessage(sluice::kUsage);
  absl::FlagsUsageConfig config;
  config.contains_help_flags = [](absl::string_view file) {
    return absl::StrContains(file, "tools/commands/");
  };
  absl::SetFlagsUsageConfig(config);
  const std::vector<char*> words = absl::ParseCommandLine(argc, argv);
  return sluice::Main(sluice::Arguments(words.begin(), words.end()));
}
