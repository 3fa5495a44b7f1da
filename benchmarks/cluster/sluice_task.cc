// Runs one process of a Sluice cluster, whose speed the script ./cluster compares with that of
// TensorFlow (task.h).
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/cluster/task.h"
#include "benchmarks/graphs/feed.h"
#include "distributed/client/remote_session.h"
#include "distributed/cluster/cluster_spec.h"
#include "distributed/server/server.h"
#include "graph/format/graph_def.h"
#include "graph/status.h"

namespace sluice {
namespace {

using cluster_benchmark::Fail;
using cluster_benchmark::SplitWords;

class SluiceFramework final : public cluster_benchmark::Framework {
 public:
  void Serve(const std::string& cluster, const std::string& job, int task) override {
    ServerOptions options;
    for (const std::string& tasks : SplitWords(cluster, ';')) {
      const size_t equals = tasks.find('=');
      int index = 0;
      for (const std::string& address : SplitWords(tasks.substr(equals + 1), ',')) {
        options.cluster.spec.SetAddress({tasks.substr(0, equals), index++}, address);
      }
    }
    options.cluster.task = {job, task};
    auto server = Server::Start(options);
    if (!server.ok()) Fail(server.status().ToString());
    server_ = *std::move(server);
  }

  void Load(const std::string& file, const std::string& target) override {
    session_.reset();
    steps_.clear();
    graph_ = std::make_unique<Graph>();
    std::ifstream in(file, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    Check(ImportGraphDef(bytes, *graph_).status());
    auto session =
        target.empty() ? server_->NewSession(*graph_) : RemoteSession::Connect(*graph_, target);
    Check(session.status());
    session_ = *std::move(session);
  }

  int Prepare(const cluster_benchmark::Step& step) override {
    Prepared prepared{{}, step.fetches, step.targets};
    for (const auto& [tensor, description] : step.feeds) {
      auto value = MakeFeed(description, prepared.feeds.size());
      Check(value.status());
      prepared.feeds.push_back({tensor, *std::move(value)});
    }
    steps_.push_back(std::make_unique<Prepared>(std::move(prepared)));
    return static_cast<int>(steps_.size()) - 1;
  }

  bool Run(int number) override {
    const Prepared& step = *steps_[number];
    const absl::StatusOr<Tensors> out = session_->Run(step.feeds, step.fetches, step.targets);
    if (!out.ok()) std::fprintf(stderr, "%s\n", out.status().ToString().c_str());
    return out.ok();
  }

 private:
  struct Prepared {
    std::vector<NamedFeed> feeds;
    std::vector<std::string> fetches, targets;
  };
  static void Check(const absl::Status& status) {
    if (!status.ok()) Fail(status.ToString());
  }
  std::unique_ptr<Server> server_;
  std::unique_ptr<Graph> graph_;
  std::unique_ptr<Session> session_;
  std::vector<std::unique_ptr<Prepared>> steps_;
};

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  static sluice::SluiceFramework framework;
  return cluster_benchmark::RunTask(argc, argv, framework);
}
