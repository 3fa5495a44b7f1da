// Test support for sessions: a saver in memory, hooks that record their calls, and a captured log.
#ifndef SLUICE_TRAINING_TESTING_SESSION_H_
#define SLUICE_TRAINING_TESTING_SESSION_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "graph/mutex.h"
#include "ops/state/variable.h"
#include "training/checkpoint/model_saver.h"
#include "training/loop/log.h"
#include "training/session/session_run_hook.h"

namespace sluice::testing {

// Keeps the values of all global variables in memory, by path.
class MemorySaver : public ModelSaver {
 public:
  absl::Status Build(Graph& graph) override;
  absl::StatusOr<std::string> Save(Session& session, const std::string& prefix, int64_t global_step,
                                   bool write_meta_graph) override;
  absl::Status Restore(Session& session, const std::string& path) override;
  absl::StatusOr<LatestCheckpoints> FindCheckpoints(const std::string& folder) override;
  void RecoverLastCheckpoints(const std::vector<std::string>& paths) override {
    recovered_ = paths;
  }
  std::vector<std::string> paths() const;
  const std::vector<std::string>& recovered() const { return recovered_; }

 private:
  std::vector<Output> reads_, values_;
  std::vector<Operation> assigns_;
  std::vector<std::pair<std::string, Tensors>> saved_;  // oldest first
  std::vector<std::string> recovered_;
};

// A hook that adds "<name>.<method>" to a list when one of its methods is called, and then calls a
// function of the test.
class RecordingHook : public SessionRunHook {
 public:
  RecordingHook(std::string name, std::vector<std::string>& calls)
      : name_(std::move(name)), calls_(calls) {}

  // The functions of the test. A call whose function is not set returns OK.
  std::function<absl::Status(Graph&)> begin;
  std::function<absl::Status(Session&, Coordinator&)> after_create_session;
  std::function<absl::StatusOr<SessionRunArgs>(SessionRunContext&)> before_run;
  std::function<absl::Status(SessionRunContext&, const SessionRunValues&)> after_run;
  std::function<absl::Status(Session&)> end;

  absl::Status Begin(Graph& graph) override;
  absl::Status AfterCreateSession(Session& session, Coordinator& coordinator) override;
  absl::StatusOr<SessionRunArgs> BeforeRun(SessionRunContext& context) override;
  absl::Status AfterRun(SessionRunContext& context, const SessionRunValues& values) override;
  absl::Status End(Session& session) override;

 private:
  const std::string name_;
  std::vector<std::string>& calls_;
};

// Collects the lines of the log during its lifetime.
class CapturedLog {
 public:
  CapturedLog();
  ~CapturedLog();
  std::string text();

 private:
  Mutex mutex_;
  std::string text_ ABSL_GUARDED_BY(mutex_);
  LogSink before_;
};

}  // namespace sluice::testing

#endif  // SLUICE_TRAINING_TESTING_SESSION_H_
