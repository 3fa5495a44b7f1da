#include "training/testing/session.h"

#include <utility>

#include "graph/status.h"
#include "ops/builders/constant.h"

namespace sluice::testing {

absl::Status MemorySaver::Build(Graph& graph) {
  if (!assigns_.empty()) return absl::OkStatus();
  for (const Variable& v : GlobalVariables(graph)) {
    reads_.push_back(v.Read());
    values_.push_back(Placeholder(graph, v.dtype(), v.shape(), "restored"));
    assigns_.push_back(v.Assign(values_.back()));
  }
  return graph.status();
}

absl::StatusOr<std::string> MemorySaver::Save(Session& session, const std::string& prefix,
                                              int64_t global_step, bool) {
  SLUICE_ASSIGN_OR_RETURN(Tensors values, session.Run({}, reads_));
  const std::string path = StrCat(prefix, "-", global_step);
  saved_.emplace_back(path, std::move(values));
  return path;
}

absl::Status MemorySaver::Restore(Session& session, const std::string& path) {
  for (const auto& [saved_path, values] : saved_) {
    if (saved_path != path) continue;
    std::vector<Feed> feeds;
    for (size_t i = 0; i < values.size(); ++i) feeds.push_back({values_[i], values[i]});
    return session.Run(feeds, {}, assigns_).status();
  }
  return absl::NotFoundError(StrCat("no checkpoint '", path, "'"));
}

absl::StatusOr<LatestCheckpoints> MemorySaver::FindCheckpoints(const std::string& folder) {
  LatestCheckpoints found;
  for (const std::string& path : paths()) {
    if (path.starts_with(folder)) found.all.push_back(path);
  }
  if (!found.all.empty()) found.latest = found.all.back();
  return found;
}

std::vector<std::string> MemorySaver::paths() const {
  std::vector<std::string> paths;
  for (const auto& [path, values] : saved_) paths.push_back(path);
  return paths;
}

absl::Status RecordingHook::Begin(Graph& graph) {
  calls_.push_back(name_ + ".begin");
  return begin ? begin(graph) : absl::OkStatus();
}
absl::Status RecordingHook::AfterCreateSession(Session& session, Coordinator& coordinator) {
  calls_.push_back(name_ + ".after_create_session");
  return after_create_session ? after_create_session(session, coordinator) : absl::OkStatus();
}
absl::StatusOr<SessionRunArgs> RecordingHook::BeforeRun(SessionRunContext& context) {
  calls_.push_back(name_ + ".before_run");
  return before_run ? before_run(context) : SessionRunArgs();
}
absl::Status RecordingHook::AfterRun(SessionRunContext& context, const SessionRunValues& values) {
  calls_.push_back(name_ + ".after_run");
  return after_run ? after_run(context, values) : absl::OkStatus();
}
absl::Status RecordingHook::End(Session& session) {
  calls_.push_back(name_ + ".end");
  return end ? end(session) : absl::OkStatus();
}

CapturedLog::CapturedLog()
    : before_(SetLogSink([this](LogSeverity, const std::string& line) {
        ScopedLock lock(&mutex_);
        StrAppend(&text_, line, "\n");
      })) {}
CapturedLog::~CapturedLog() { SetLogSink(std::move(before_)); }
std::string CapturedLog::text() {
  ScopedLock lock(&mutex_);
  return text_;
}

}  // namespace sluice::testing
