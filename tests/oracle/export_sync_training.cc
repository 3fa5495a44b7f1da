// Exports synchronous training with 1, 2 and 4 replicas: graphs for TensorFlow to run, and the
// resulting parameters. export_sync_training FOLDER ref|resource writes
//   data.npz                   x and y of every step
//   alone.npz                  parameters after the last step of one replica with whole batches
//   <N>.npz, <N>_<i>.pb, .txt  for N replicas: parameters; each replica's GraphDef and names
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "graph/format/graph_def.h"
#include "graph/status.h"
#include "graph/strings.h"
#include "tests/endtoend/sync_training.h"
#include "tools/npz/npz.h"
#include "tools/npz/tensor_npy.h"

namespace sluice {
namespace {

using Arrays = std::map<std::string, NpyArray>;

absl::Status WriteParameters(const Tensors& parameters, const std::string& path) {
  Arrays arrays;
  for (size_t i = 0; i < parameters.size(); ++i) {
    SLUICE_ASSIGN_OR_RETURN(arrays[StrCat("p", i)], NpyFromTensor(parameters[i]));
  }
  return WriteNpz(path, arrays);
}

absl::Status WriteData(const std::string& path) {
  Arrays arrays;
  for (int step = 0; step < kSyncSteps; ++step) {
    const SyncBatch batch = BatchOfStep(step);
    SLUICE_ASSIGN_OR_RETURN(arrays[StrCat("x", step)], NpyFromTensor(batch.x));
    SLUICE_ASSIGN_OR_RETURN(arrays[StrCat("y", step)], NpyFromTensor(batch.y));
  }
  return WriteNpz(path, arrays);
}

absl::Status WriteReplica(const SyncReplica& replica, const std::string& stem) {
  SLUICE_ASSIGN_OR_RETURN(const pb::GraphDef def, ExportGraphDef(replica.graph));
  std::ofstream graph(stem + ".pb", std::ios::binary);
  def.SerializeToOstream(&graph);
  SLUICE_ASSIGN_OR_RETURN(const QueueRunner runner, replica.optimizer.ChiefQueueRunner());
  std::ofstream names(stem + ".txt");
  names << "x " << replica.net.x.name() << "\ny " << replica.net.y.name() << "\n"
        << "init " << replica.init.name() << "\n"
        << "chief_init " << replica.optimizer.chief_init_op().name() << "\n"
        << "local_init " << replica.optimizer.local_step_init_op().name() << "\n"
        << "train " << replica.train.name() << "\n";
  for (const Operation& op : runner.enqueue_ops) names << "enqueue " << op.name() << "\n";
  names << "cancel " << runner.cancel_op.name() << "\n";
  for (const Output& read : replica.reads) names << "read " << read.name() << "\n";
  return graph.flush() && names.flush() ? absl::OkStatus()
                                        : absl::UnknownError(StrCat("cannot write ", stem));
}

absl::Status WriteAll(const std::string& folder, bool use_resource) {
  SLUICE_RETURN_IF_ERROR(WriteData(folder + "/data.npz"));
  SLUICE_ASSIGN_OR_RETURN(const Tensors alone, TrainAlone(use_resource));
  SLUICE_RETURN_IF_ERROR(WriteParameters(alone, folder + "/alone.npz"));
  for (const int count : {1, 2, 4}) {
    SLUICE_ASSIGN_OR_RETURN(auto replicas, MakeReplicas(count, use_resource));
    for (int i = 0; i < count; ++i) {
      SLUICE_RETURN_IF_ERROR(WriteReplica(*replicas[i], StrCat(folder, "/", count, "_", i)));
    }
    SLUICE_ASSIGN_OR_RETURN(const Tensors together, TrainTogether(replicas));
    SLUICE_RETURN_IF_ERROR(WriteParameters(together, StrCat(folder, "/", count, ".npz")));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: export_sync_training FOLDER ref|resource\n");
    return 2;
  }
  const absl::Status status = sluice::WriteAll(argv[1], std::strcmp(argv[2], "resource") == 0);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
