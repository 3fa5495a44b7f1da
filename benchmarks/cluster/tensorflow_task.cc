// Runs one process of a cluster of TensorFlow servers (task.h), with TensorFlow's C++ library from
// PyPI and without Python.
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/cluster/task.h"
#include "benchmarks/versus/tensorflow_feed.h"
#include "tensorflow/core/distributed_runtime/server_lib.h"
#include "tensorflow/core/framework/graph.pb.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/protobuf/cluster.pb.h"
#include "tensorflow/core/protobuf/rewriter_config.pb.h"
#include "tensorflow/core/protobuf/tensorflow_server.pb.h"
#include "tensorflow/core/public/session.h"

using cluster_benchmark::Fail;
using cluster_benchmark::SplitWords;

class TensorFlowFramework final : public cluster_benchmark::Framework {
 public:
  void Serve(const std::string& cluster, const std::string& job, int task) override {
    tf::ServerDef def;
    def.set_protocol("grpc");
    def.set_job_name(job);
    def.set_task_index(task);
    for (const std::string& tasks : SplitWords(cluster, ';')) {
      const size_t equals = tasks.find('=');
      auto* of_job = def.mutable_cluster()->add_job();
      of_job->set_name(tasks.substr(0, equals));
      int index = 0;
      for (const std::string& address : SplitWords(tasks.substr(equals + 1), ',')) {
        (*of_job->mutable_tasks())[index++] = address;
      }
    }
    Check(tf::NewServer(def, &server_));
    Check(server_->Start());
  }

  void Load(const std::string& file, const std::string& target) override {
    if (session_) (void)session_->Close();
    steps_.clear();
    tf::GraphDef graph;
    Check(tf::ReadBinaryProto(tf::Env::Default(), file, &graph));
    tf::SessionOptions options;
    options.target = target.empty() ? server_->target() : target;
    session_.reset(tf::NewSession(options));
    if (!session_) Fail("no session at " + options.target);
    Check(session_->Create(graph));
  }

  int Prepare(const cluster_benchmark::Step& step) override {
    auto prepared = std::make_unique<Prepared>();
    for (const auto& [tensor, description] : step.feeds) {
      prepared->feeds.emplace_back(tensor, MakeFeed(description, prepared->feeds.size()));
    }
    prepared->fetches = step.fetches;
    prepared->targets = step.targets;
    steps_.push_back(std::move(prepared));
    return static_cast<int>(steps_.size()) - 1;
  }

  bool Run(int number) override {
    const Prepared& step = *steps_[number];
    std::vector<tf::Tensor> out;
    const auto status = session_->Run(step.feeds, step.fetches, step.targets, &out);
    if (!status.ok()) fprintf(stderr, "%s\n", status.ToString().c_str());
    return status.ok();
  }

 private:
  struct Prepared {
    std::vector<std::pair<std::string, tf::Tensor>> feeds;
    std::vector<std::string> fetches, targets;
  };
  static void Check(const absl::Status& status) {
    if (!status.ok()) Fail(status.ToString());
  }
  std::unique_ptr<tf::ServerInterface> server_;
  std::unique_ptr<tf::Session> session_;
  std::vector<std::unique_ptr<Prepared>> steps_;
};

int main(int argc, char** argv) {
  static TensorFlowFramework framework;
  return cluster_benchmark::RunTask(argc, argv, framework);
}
