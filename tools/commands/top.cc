// Shows the state of a cluster's tasks at intervals, as a table or as a page for browsers.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/flags/flag.h"
#include "distributed/client/monitor.h"
#include "distributed/server/http_pages.h"
#include "graph/status.h"
#include "tools/commands/command.h"
#include "tools/commands/dashboard.h"
#include "tools/commands/metrics_text.h"
#include "tools/commands/security_flags.h"

ABSL_FLAG(int, every_ms, 1000, "top: milliseconds between two updates");
ABSL_FLAG(int, times, 0, "top: number of updates; 0: until interrupted");
ABSL_FLAG(int, web, -1,
          "top: serve a page with the same state at http://127.0.0.1:PORT; 0: any free port");
ABSL_FLAG(std::string, web_bind, "127.0.0.1",
          "top: address of the page; one that other hosts reach needs --web_token_file, and TLS or "
          "--insecure");
ABSL_FLAG(std::string, web_token_file, "",
          "top: file whose first line is the token of the page; open the page with #TOKEN behind "
          "its address");
ABSL_FLAG(std::string, summaries, "",
          "top: with --web: folder of event files, for loss, accuracy and gradients by replica");

namespace sluice {
namespace {

using Clock = std::chrono::steady_clock;

struct Look {
  Clock::time_point at;
  absl::StatusOr<MetricValues> metrics = absl::UnavailableError("");
};

// The width of "/job:localhost/replica:0/task:0" and a blank.
constexpr int kTaskWidth = 32;

// The growth of a metric per second since the previous look, in multiples of `unit`. "-" in the
// first look.
std::string Rate(const Look& now, const Look& before, const char* name, double unit = 1) {
  if (!before.metrics.ok()) return "-";
  const double seconds = std::chrono::duration<double>(now.at - before.at).count();
  return fmt::format("{:.1f}",
                     (now.metrics->Sum(name) - before.metrics->Sum(name)) / seconds / unit);
}

void PrintTask(const std::string& target, const Look& now, const Look& before) {
  if (!now.metrics.ok()) {
    fmt::print("{:<{}} {}\n", target, kTaskWidth, std::string(now.metrics.status().message()));
    return;
  }
  const MetricValues& m = *now.metrics;
  fmt::print("{:<{}} {:>8} {:>8} {:>7.0f} {:>8} {:>8} {:>7.1f}\n", m.Label("sluice_task_info"),
             kTaskWidth, Rate(now, before, "sluice_steps_total"),
             Rate(now, before, "sluice_parts_total"), m.Sum("sluice_waiting_ops"),
             Rate(now, before, "sluice_tensor_sent_bytes_total", 1e6),
             Rate(now, before, "sluice_tensor_received_bytes_total", 1e6),
             m.Sum("sluice_resident_memory_bytes") / 1e6);
  for (const auto& [session, age] : m.Of("sluice_session_age_seconds")) {
    const auto of = [&, &name = session](const char* metric) { return m.Of(metric)[name]; };
    fmt::print(
        "  session {}: {:.0f} s old, idle for {:.0f} s, {:.0f} running calls, {:.1f} MB of "
        "tensors, {:.1f} MB of graph{}\n",
        session, age, of("sluice_session_idle_seconds"), of("sluice_session_running_calls"),
        of("sluice_session_memory_bytes") / 1e6, of("sluice_session_graph_bytes") / 1e6,
        of("sluice_session_connected") == 0 ? ", client lost" : "");
  }
  for (const auto& [queue, elements] : m.Of("sluice_queue_elements")) {
    fmt::print("  queue {}: {:.0f} elements\n", queue, elements);
  }
  for (const auto& [accumulator, gradients] : m.Of("sluice_accumulator_gradients")) {
    const auto of = [&, &name = accumulator](const char* metric) { return m.Of(metric)[name]; };
    fmt::print(
        "  accumulator {}: {:.0f} gradients now; {:.0f} applied in {:.0f} updates, {:.0f} dropped "
        "as stale, {:.0f} as surplus\n",
        accumulator, gradients, of("sluice_accumulator_applied_total"),
        of("sluice_accumulator_updates_total"), of("sluice_accumulator_stale_total"),
        of("sluice_accumulator_surplus_total"));
  }
  for (const TableMetrics& table : TablesOf(m)) {
    fmt::print(
        "  embedding table {}: {:.0f} keys in {:.1f} MB; {:.0f} admitted, {:.0f} updates filtered, "
        "{:.0f} evicted\n",
        table.name, table.keys, table.bytes / 1e6, table.admitted, table.filtered, table.evicted);
  }
}

// Returns the address at which the page listens. With TLS it uses HTTPS, except on this host. The
// page shows data that the token of the cluster protects, so a page that other hosts can reach
// needs a token too.
absl::StatusOr<HttpPages::Options> PageOptions(const Security& security) {
  HttpPages::Options http{.bind = absl::GetFlag(FLAGS_web_bind), .port = absl::GetFlag(FLAGS_web)};
  SLUICE_ASSIGN_OR_RETURN(http.token, TokenFrom(absl::GetFlag(FLAGS_web_token_file)));
  if (http.bind == "localhost") http.bind = "127.0.0.1";
  if (http.bind.starts_with("127.")) return http;
  SLUICE_INVALID_IF(http.token.empty(), "--web_bind: a page on '", http.bind,
                    "' shows the cluster to every client that reaches it: set --web_token_file");
  SLUICE_INVALID_IF(security.cert_file.empty() && !absl::GetFlag(FLAGS_insecure),
                    "--web_bind: a page on '", http.bind,
                    "' without TLS sends its token where others may read it: set --tls_cert and "
                    "--tls_key, or say --insecure where the network is trusted");
  SLUICE_ASSIGN_OR_RETURN(http.certificate, ReadPem(security.cert_file));
  SLUICE_ASSIGN_OR_RETURN(http.key, ReadPem(security.key_file));
  return http;
}

// Serves the page until SIGTERM or SIGINT.
absl::Status ServeDashboard(const Arguments& targets, const Security& security) {
  // Before any other thread starts, so that this thread receives the signals.
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  SLUICE_ASSIGN_OR_RETURN(const HttpPages::Options http, PageOptions(security));
  SLUICE_ASSIGN_OR_RETURN(
      const std::unique_ptr<Dashboard> dashboard,
      Dashboard::Start({.targets = targets,
                        .security = security,
                        .interval = std::chrono::milliseconds(absl::GetFlag(FLAGS_every_ms)),
                        .summaries = absl::GetFlag(FLAGS_summaries)}));
  SLUICE_ASSIGN_OR_RETURN(
      const std::unique_ptr<HttpPages> pages,
      HttpPages::Start(http,
                       {{"/", {"text/html; charset=utf-8", &Dashboard::Page, false}},
                        {"/state", {"application/json", [&] { return dashboard->State(); }}}}));
  fmt::print("open {}://{}:{}/{}\n", http.certificate.empty() ? "http" : "https", http.bind,
             pages->port(), http.token.empty() ? "" : "#TOKEN");
  std::fflush(stdout);
  int signal;
  sigwait(&signals, &signal);
  return absl::OkStatus();
}

}  // namespace

absl::Status TopCommand(const Arguments& arguments) {
  if (arguments.empty()) return UsageError("'top' needs targets: grpc://host:port …");
  SLUICE_ASSIGN_OR_RETURN(const Security security, SecurityFromFlags());
  if (absl::GetFlag(FLAGS_web) >= 0) return ServeDashboard(arguments, security);
  std::map<std::string, Look> before;
  const bool is_terminal = isatty(STDOUT_FILENO) == 1;
  const int times = absl::GetFlag(FLAGS_times);
  for (int i = 0; times == 0 || i < times; ++i) {
    if (i > 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(absl::GetFlag(FLAGS_every_ms)));
    std::map<std::string, Look> now;
    for (const std::string& target : arguments) {
      Look& look = now[target];
      const absl::StatusOr<std::string> text = MetricsAt(target, security);
      look.at = Clock::now();
      if (text.ok()) {
        look.metrics = MetricValues(*text);
      } else {
        look.metrics = text.status();
      }
    }
    if (is_terminal) fmt::print("\x1b[2J\x1b[H");
    fmt::print("{:<{}} {:>8} {:>8} {:>7} {:>8} {:>8} {:>7}\n", "task", kTaskWidth, "steps/s",
               "parts/s", "waiting", "MB/s out", "MB/s in", "MB");
    for (const std::string& target : arguments) PrintTask(target, now[target], before[target]);
    std::fflush(stdout);
    before = std::move(now);
  }
  for (const auto& [target, look] : before) SLUICE_RETURN_IF_ERROR(look.metrics.status());
  return absl::OkStatus();
}

}  // namespace sluice
