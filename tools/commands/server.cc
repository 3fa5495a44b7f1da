#include "distributed/server/server.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/flags/declare.h"
#include "absl/flags/flag.h"
#include "distributed/cluster/cluster_spec.h"
#include "distributed/events/audit_log.h"
#include "distributed/events/event_log.h"
#include "executor/device/memory_account.h"
#include "executor/files/file_policy.h"
#include "executor/wait/crash_report.h"
#include "executor/wait/session_scope.h"
#include "executor/wait/stall_signal.h"
#include "graph/status.h"
#include "tools/commands/command.h"
#include "tools/commands/file_flags.h"
#include "tools/commands/security_flags.h"

ABSL_DECLARE_FLAG(std::string, token_file);

ABSL_FLAG(int, port, -1, "server: port; 0: any free one; -1: that of the cluster's address");
ABSL_FLAG(std::string, bind, "127.0.0.1", "server: address to listen on");
ABSL_FLAG(int64_t, max_message_mb, 64 << 10, "server: larger messages are refused");
ABSL_FLAG(int64_t, memory_mb, -1,
          "server: memory of all tensors; 0: no limit; -1: 80 % of the container's limit, if any");
ABSL_FLAG(int64_t, session_memory_mb, 0, "server: memory of a session's tensors; 0: no limit");
ABSL_FLAG(int, cpus, 1, "server: CPU devices");
ABSL_FLAG(int, metrics_port, -1, "server: port of /metrics; 0: any free one; -1: none");
ABSL_FLAG(std::string, metrics_bind, "127.0.0.1", "server: address of the page of metrics");
ABSL_FLAG(std::string, metrics_token_file, "",
          "server: token of the page of metrics; by default that of --token_file");
ABSL_FLAG(int, heartbeat_ms, 10'000, "server: a task that is silent for this time counts as lost");
ABSL_FLAG(int64_t, connect_timeout_ms, 60'000, "server: how long steps wait for tasks to start");
ABSL_FLAG(int, max_connections, 0,
          "server: open connections; 0: as many as the limit of descriptors permits");
ABSL_FLAG(int64_t, session_idle_s, 0,
          "server: sessions without a call for this time are closed; 0: never");
ABSL_FLAG(int64_t, session_lost_s, 86'400,
          "server: sessions whose client is not connected for this time are closed; 0: never");
ABSL_FLAG(int64_t, drain_s, 5, "server: time that running steps get to end after SIGTERM");
ABSL_FLAG(std::string, audit_log, "",
          "server: file for a JSON line per session, graph and file that clients use");
ABSL_FLAG(std::string, log_level, "info", "server: debug, info, warning or error");
ABSL_FLAG(std::string, log_format, "text", "server: text or json (one object per line)");
ABSL_FLAG(std::string, cluster, "", "server: {\"ps\": [\"host:port\", …], \"worker\": […]}");
ABSL_FLAG(std::string, job, "", "server: job of this task");
ABSL_FLAG(int, task, 0, "server: number of this task in its job");

namespace sluice {
namespace {

absl::StatusOr<Cluster> ClusterFromFlags() {
  Cluster cluster;
  if (!absl::GetFlag(FLAGS_cluster).empty()) {
    SLUICE_ASSIGN_OR_RETURN(cluster.spec, ClusterSpec::FromJson(absl::GetFlag(FLAGS_cluster)));
    cluster.task = {absl::GetFlag(FLAGS_job), absl::GetFlag(FLAGS_task)};
    return cluster;
  }
  if (absl::GetFlag(FLAGS_port) >= 0) return cluster;  // a cluster of one task
  absl::StatusOr<Cluster> found = Cluster::FromEnvironment();
  if (found.ok() || !absl::IsNotFound(found.status())) return found;
  return UsageError("'server' needs --port, --cluster, or a cluster in the environment");
}

std::chrono::seconds Seconds(int64_t count) {
  return std::chrono::seconds(std::clamp<int64_t>(count, 0, int64_t{1} << 31));
}

int64_t MegabytesToBytes(int64_t megabytes) {
  return std::clamp<int64_t>(megabytes, 0, int64_t{1} << 30) << 20;
}

// By default four fifths of the container's memory. The rest is for graphs, messages, strings and
// the program itself.
int64_t MemoryLimit() {
  const int64_t megabytes = absl::GetFlag(FLAGS_memory_mb);
  return megabytes < 0 ? ContainerMemoryBytes() / 5 * 4 : MegabytesToBytes(megabytes);
}

// A connection takes two descriptors, and checkpoints, tables and data take more. The usual limit
// of 1,024 is made for programs that call select(), which this one does not.
void RaiseDescriptorLimit() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Reads tokens and certificates again, and opens the audit log again. `started` has those of the
// start. A file that cannot be used is reported, and its former contents stay in force.
void Reload(const ServerOptions& started) {
  const auto replace = [](const std::string& initial, const absl::StatusOr<std::string>& current) {
    if (!current.ok()) {
      std::fprintf(stderr, "%s\n", current.status().ToString().c_str());
    } else if (!initial.empty()) {
      ReplaceToken(initial, *current);
    }
  };
  replace(started.security.token, TokenFrom(absl::GetFlag(FLAGS_token_file)));
  replace(started.metrics_token, TokenFrom(absl::GetFlag(FLAGS_metrics_token_file)));
  ReloadCertificates();
  if (const absl::Status reopened = ReopenAuditLog(); !reopened.ok()) {
    std::fprintf(stderr, "%s\n", reopened.ToString().c_str());
  }
  std::printf("read tokens and certificates again\n");
  std::fflush(stdout);
}

absl::Status StartAudit() {
  const std::string path = absl::GetFlag(FLAGS_audit_log);
  if (path.empty()) return absl::OkStatus();
  SLUICE_RETURN_IF_ERROR(OpenAuditLog(path));
  SetFileAudit([](std::string_view action, const std::string& file) {
    EventFields fields;
    if (const int64_t session = SessionScope::Current(); session != 0) {
      fields.emplace_back("session", StrCat(session));
    }
    if (const RunningNode::Id node = RunningNode::Current(); node.name != nullptr) {
      fields.emplace_back("step", StrCat(node.step));
      fields.emplace_back("node", node.name);
    }
    fields.emplace_back("action", std::string(action));
    fields.emplace_back("path", file);
    Audit("file", fields);
  });
  return absl::OkStatus();
}

}  // namespace

absl::Status ServerCommand(const Arguments& arguments) {
  if (!arguments.empty()) return UsageError("'server' takes no arguments, only options");
  // Before any other thread starts, so that this thread receives the signals.
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ReportStallsOnSignal();
  ReportCrashes();
  RaiseDescriptorLimit();

  EventLogOptions log;
  SLUICE_RETURN_IF_ERROR(
      ParseLogOptions(absl::GetFlag(FLAGS_log_level), absl::GetFlag(FLAGS_log_format), &log));
  SetEventLog(log);
  SLUICE_RETURN_IF_ERROR(SetFilePolicyFromFlags());
  SLUICE_RETURN_IF_ERROR(StartAudit());
  ServerOptions options;
  SLUICE_ASSIGN_OR_RETURN(options.cluster, ClusterFromFlags());
  options.bind = absl::GetFlag(FLAGS_bind);
  options.port = absl::GetFlag(FLAGS_port);
  options.insecure = absl::GetFlag(FLAGS_insecure);
  options.cpus = absl::GetFlag(FLAGS_cpus);
  options.metrics_port = absl::GetFlag(FLAGS_metrics_port);
  options.metrics_bind = absl::GetFlag(FLAGS_metrics_bind);
  SLUICE_ASSIGN_OR_RETURN(options.metrics_token,
                          TokenFrom(absl::GetFlag(FLAGS_metrics_token_file)));
  options.heartbeat.timeout_ms = std::max(absl::GetFlag(FLAGS_heartbeat_ms), 5);
  options.heartbeat.interval_ms = options.heartbeat.timeout_ms / 5;
  options.connect_timeout_ms = absl::GetFlag(FLAGS_connect_timeout_ms);
  options.memory_bytes = MemoryLimit();
  options.session_memory_bytes = MegabytesToBytes(absl::GetFlag(FLAGS_session_memory_mb));
  options.max_connections = absl::GetFlag(FLAGS_max_connections);
  options.session_limits.idle = Seconds(absl::GetFlag(FLAGS_session_idle_s));
  options.session_limits.lost = Seconds(absl::GetFlag(FLAGS_session_lost_s));
  options.session.warn = [](const std::string& text) {
    LogEvent(LogLevel::kWarning, "step", {{"message", text}});
  };
  SLUICE_ASSIGN_OR_RETURN(options.security, SecurityFromFlags());
  // Reload finds a token by its first value, so the two must differ.
  SLUICE_INVALID_IF(
      !options.metrics_token.empty() && options.metrics_token == options.security.token,
      "--metrics_token_file: expected another token than that of --token_file");
  options.max_message_bytes = std::clamp<int64_t>(absl::GetFlag(FLAGS_max_message_mb), 1, 1 << 30)
                              << 20;
  SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<Server> server, Server::Start(options));
  std::printf("listening at %s\n", server->target().c_str());
  if (server->metrics_port() >= 0) {
    std::printf("metrics at %s://%s:%d/metrics\n",
                options.security.cert_file.empty() ? "http" : "https", options.metrics_bind.c_str(),
                server->metrics_port());
  }
  std::fflush(stdout);
  int signal;
  while (sigwait(&signals, &signal) == 0 && signal == SIGHUP) Reload(options);
  std::printf("stopping\n");
  std::fflush(stdout);
  server->Drain(Seconds(absl::GetFlag(FLAGS_drain_s)));
  server->Stop();
  return absl::OkStatus();
}

}  // namespace sluice
