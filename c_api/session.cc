#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "c_api/handles.h"
#include "distributed/client/remote_session.h"
#include "executor/files/files.h"
#include "graph/format/proto/saver.pb.h"
#include "graph/status.h"
#include "ops/embedding/embedding_table.h"
#include "ops/state/variable.h"
#include "training/checkpoint/checkpoint_state.h"

namespace sluice::c_api {
namespace {

std::string TextOf(const char* text) { return text == nullptr ? "" : text; }

SessionOptions LocalOptions(const sluice_session_options& given) {
  SessionOptions options;
  options.intra_op_threads = given.intra_op_threads;
  options.inter_op_threads = given.inter_op_threads;
  options.allow_soft_placement = given.allow_soft_placement != 0;
  options.operation_timeout_ms = given.timeout_ms;
  return options;
}

absl::StatusOr<std::unique_ptr<Session>> MakeSession(Graph& graph, const std::string& target,
                                                     const sluice_session_options& given) {
  if (target.empty()) return std::make_unique<Session>(graph, LocalOptions(given));
  RemoteSessionOptions options;
  options.session = LocalOptions(given);
  if (given.connect_timeout_ms > 0) options.connect_timeout_ms = given.connect_timeout_ms;
  options.security.ca_file = TextOf(given.tls_ca);
  options.security.cert_file = TextOf(given.tls_cert);
  options.security.key_file = TextOf(given.tls_key);
  options.security.server_name = TextOf(given.tls_server_name);
  options.security.token = TextOf(given.token);
  return RemoteSession::Connect(graph, target, options);
}

absl::Status Run(Session& session, absl::Span<const sluice_feed> feeds,
                 const std::vector<std::string>& fetches, sluice_tensor** fetched,
                 const std::vector<std::string>& targets, const sluice_run_options* run_options) {
  SLUICE_ASSIGN_OR_RETURN(const sluice_run_options given,
                          WithAllFields("sluice_run_options", run_options));
  std::vector<NamedFeed> fed;
  for (const sluice_feed& feed : feeds) fed.push_back({feed.name, feed.value->tensor});
  RunOptions options;
  options.timeout_ms = given.timeout_ms;
  options.check_numerics = given.check_numerics != 0;
  if (given.cancellation != nullptr) options.cancellation = &given.cancellation->manager;
  SLUICE_ASSIGN_OR_RETURN(Tensors values, session.Run(fed, fetches, targets, options));
  for (size_t i = 0; i < fetches.size(); ++i) {
    fetched[i] = new sluice_tensor{std::move(values[i])};
  }
  return absl::OkStatus();
}

// Whether the graph lists anything that a Saver of all variables saves.
bool HasSavedVariables(const Graph& graph) {
  return !GlobalVariables(graph).empty() || !Variables(graph, "saveable_objects").empty() ||
         !Variables(graph, kEmbeddingTables).empty();
}

// The saver of all variables that the graph lists; if it lists none, that of its MetaGraphDef. It
// never deletes a checkpoint, because the sessions of the graph share it.
absl::StatusOr<Saver*> SaverOf(LoadedGraph& loaded, Session& session) {
  ScopedLock lock(&loaded.mutex);
  if (loaded.saver != nullptr) return loaded.saver.get();
  std::unique_ptr<Saver> saver;
  if (!HasSavedVariables(loaded.graph) && loaded.meta.has_saver_def()) {
    pb::SaverDef def = loaded.meta.saver_def();
    def.set_max_to_keep(0);
    SLUICE_ASSIGN_OR_RETURN(saver, Saver::FromDef(def, loaded.graph));
  } else {
    saver = std::make_unique<Saver>(SaverOptions{.max_to_keep = 0});
    SLUICE_RETURN_IF_ERROR(session.Extend([&](Graph& graph) { return saver->Build(graph); }));
  }
  loaded.saver = std::move(saver);
  return loaded.saver.get();
}

absl::Status NewSession(sluice_graph& graph, const std::string& target,
                        const sluice_session_options* given, sluice_session** session) {
  SLUICE_ASSIGN_OR_RETURN(const sluice_session_options options,
                          WithAllFields("sluice_session_options", given));
  SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<Session> made,
                          MakeSession(graph.loaded->graph, target, options));
  // Before the first step, so that no other step compiles again.
  if (HasSavedVariables(graph.loaded->graph)) {
    SLUICE_RETURN_IF_ERROR(SaverOf(*graph.loaded, *made).status());
  }
  *session = new sluice_session{graph.loaded, std::move(made)};
  return absl::OkStatus();
}

absl::Status Save(sluice_session& session, const std::string& prefix, int64_t global_step) {
  SLUICE_ASSIGN_OR_RETURN(Saver * saver, SaverOf(*session.loaded, *session.session));
  SaveOptions options;
  if (global_step >= 0) options.global_step = global_step;
  return saver->Save(*session.session, prefix, options).status();
}

absl::Status Restore(sluice_session& session, const char* checkpoint) {
  if (checkpoint == nullptr) {
    if (session.loaded->saved.has_value()) return session.loaded->saved->Restore(*session.session);
    return absl::FailedPreconditionError(
        "restore: expected a checkpoint, got NULL for a graph that is not from a SavedModel");
  }
  std::string path = checkpoint;
  if (IsDirectory(path)) {
    SLUICE_ASSIGN_OR_RETURN(path, LatestCheckpoint(path));
  }
  SLUICE_ASSIGN_OR_RETURN(Saver * saver, SaverOf(*session.loaded, *session.session));
  return saver->Restore(*session.session, path);
}

}  // namespace
}  // namespace sluice::c_api

sluice_cancellation* sluice_cancellation_new() noexcept { return new sluice_cancellation; }

void sluice_cancellation_cancel(sluice_cancellation* cancellation) noexcept {
  cancellation->manager.StartCancel();
}

void sluice_cancellation_free(sluice_cancellation* cancellation) noexcept { delete cancellation; }

sluice_error* sluice_session_new(sluice_graph* graph, const char* target,
                                 const sluice_session_options* options,
                                 sluice_session** session) noexcept {
  using namespace sluice::c_api;
  return ErrorOf(NewSession(*graph, TextOf(target), options, session));
}

sluice_error* sluice_session_close(sluice_session* session) noexcept {
  return sluice::c_api::ErrorOf(session->session->Close());
}

void sluice_session_free(sluice_session* session) noexcept { delete session; }

sluice_error* sluice_session_run(sluice_session* session, const sluice_feed* feeds,
                                 size_t num_feeds, const char* const* fetches, size_t num_fetches,
                                 sluice_tensor** fetched, const char* const* targets,
                                 size_t num_targets, const sluice_run_options* options) noexcept {
  using namespace sluice::c_api;
  return ErrorOf(Run(*session->session, absl::MakeConstSpan(feeds, num_feeds),
                     std::vector<std::string>(fetches, fetches + num_fetches), fetched,
                     std::vector<std::string>(targets, targets + num_targets), options));
}

sluice_error* sluice_session_save(sluice_session* session, const char* prefix,
                                  int64_t global_step) noexcept {
  return sluice::c_api::ErrorOf(sluice::c_api::Save(*session, prefix, global_step));
}

sluice_error* sluice_session_restore(sluice_session* session, const char* checkpoint) noexcept {
  return sluice::c_api::ErrorOf(sluice::c_api::Restore(*session, checkpoint));
}
