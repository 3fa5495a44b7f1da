// Makes clusters from the environment variables of batch systems (SLURM, mpirun).
#include <cstdlib>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "distributed/cluster/cluster_spec.h"
#include "graph/status.h"

namespace sluice {
namespace {

absl::StatusOr<int> Number(const Cluster::Environment& env, const char* name) {
  const char* text = env(name);
  int number;
  if (text != nullptr && absl::SimpleAtoi(text, &number) && number >= 0) return number;
  return InvalidArgument(name, ": expected a number, got '", text == nullptr ? "" : text, "'");
}

// Splits at the commas outside of brackets.
std::vector<std::string> SplitHosts(std::string_view list) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : list) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back().push_back(c);
    }
  }
  return parts;
}

std::string Padded(int number, size_t width) {
  std::string text = StrCat(number);
  return text.size() < width ? std::string(width - text.size(), '0') + text : text;
}

// Expands SLURM's numbers of tasks per node: "4(x2),3" -> 4, 4, 3.
absl::StatusOr<std::vector<int>> ExpandCounts(std::string_view text) {
  std::vector<int> counts;
  for (const auto part : absl::StrSplit(ToAbsl(text), ',')) {
    const std::pair<std::string, std::string> split = absl::StrSplit(part, absl::MaxSplits('(', 1));
    int count, times = 1;
    bool ok = absl::SimpleAtoi(split.first, &count) && count > 0;
    if (!split.second.empty()) {  // "x2)"
      ok = ok && split.second.size() > 2 &&
           absl::SimpleAtoi(split.second.substr(1, split.second.size() - 2), &times);
    }
    SLUICE_INVALID_IF(!ok || times < 1 || times > 1 << 20,
                      "SLURM_STEP_TASKS_PER_NODE: expected numbers of tasks, got '", text, "'");
    counts.insert(counts.end(), times, count);
  }
  return counts;
}

// Rank r runs on host_of_rank[r], at `first_port` plus the number of lower ranks on that host.
absl::StatusOr<Cluster> FromRanks(const std::vector<std::string>& host_of_rank, int rank,
                                  const Cluster::LaunchOptions& options) {
  const int size = static_cast<int>(host_of_rank.size());
  SLUICE_INVALID_IF(rank >= size, "rank ", rank, " of ", size, " processes");
  SLUICE_INVALID_IF(options.num_ps < 0 || options.num_ps >= size,
                    "expected fewer parameter servers than the ", size, " processes, got ",
                    options.num_ps);
  Cluster cluster;
  std::map<std::string, int> on_host;
  for (int r = 0; r < size; ++r) {
    const TaskName task =
        r < options.num_ps ? TaskName{"ps", r} : TaskName{"worker", r - options.num_ps};
    const std::string& host = host_of_rank[r];
    cluster.spec.SetAddress(task, StrCat(host, ":", options.first_port + on_host[host]++));
    if (r == rank) cluster.task = task;
  }
  return cluster;
}

const char* FirstOf(const Cluster::Environment& env, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const char* value = env(name)) return value;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ExpandHostList(std::string_view list) {
  std::vector<std::string> hosts;
  const absl::Status bad = InvalidArgument("host list '", list, "': expected \"a,n[1-3,7]\"");
  for (const std::string& part : SplitHosts(list)) {
    const size_t open = part.find('[');
    if (open == std::string::npos) {
      if (part.empty() || part.find(']') != std::string::npos) return bad;
      hosts.push_back(part);
      continue;
    }
    const size_t close = part.find(']', open);
    if (close == std::string::npos) return bad;
    for (const auto range : absl::StrSplit(part.substr(open + 1, close - open - 1), ',')) {
      const std::pair<std::string, std::string> ends =
          absl::StrSplit(range, absl::MaxSplits('-', 1));
      int first, last;
      if (!absl::SimpleAtoi(ends.first, &first)) return bad;
      last = first;
      if (!ends.second.empty() && !absl::SimpleAtoi(ends.second, &last)) return bad;
      if (first < 0 || last < first || last - first > 1 << 20) return bad;
      for (int n = first; n <= last; ++n) {
        hosts.push_back(
            StrCat(part.substr(0, open), Padded(n, ends.first.size()), part.substr(close + 1)));
      }
    }
  }
  return hosts;
}

absl::StatusOr<Cluster> Cluster::FromSlurm(const LaunchOptions& options, const Environment& env) {
  SLUICE_ASSIGN_OR_RETURN(const int rank, Number(env, "SLURM_PROCID"));
  SLUICE_ASSIGN_OR_RETURN(const int size, Number(env, "SLURM_NTASKS"));
  const char* list = FirstOf(env, {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"});
  SLUICE_INVALID_IF(list == nullptr, "SLURM_STEP_NODELIST is not set");
  SLUICE_ASSIGN_OR_RETURN(const std::vector<std::string> hosts, ExpandHostList(list));
  std::vector<std::string> host_of_rank;
  if (const char* counts = FirstOf(env, {"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"})) {
    SLUICE_ASSIGN_OR_RETURN(const std::vector<int> by_host, ExpandCounts(counts));
    for (size_t h = 0; h < hosts.size() && h < by_host.size(); ++h) {
      host_of_rank.insert(host_of_rank.end(), by_host[h], hosts[h]);
    }
  } else {
    for (int r = 0; r < size; ++r) {  // blocks of ranks, which are larger by one on the first hosts
      const int hosts_size = static_cast<int>(hosts.size());
      const int larger = size % hosts_size, block = size / hosts_size;
      const int h =
          r < larger * (block + 1) ? r / (block + 1) : larger + (r - larger * (block + 1)) / block;
      host_of_rank.push_back(hosts[h]);
    }
  }
  SLUICE_INVALID_IF(static_cast<int>(host_of_rank.size()) != size, "SLURM_NTASKS is ", size,
                    ", but its nodes have ", host_of_rank.size(), " tasks");
  return FromRanks(host_of_rank, rank, options);
}

absl::StatusOr<Cluster> Cluster::FromMpi(const LaunchOptions& options, const Environment& env) {
  SLUICE_ASSIGN_OR_RETURN(const int rank, Number(env, "OMPI_COMM_WORLD_RANK"));
  SLUICE_ASSIGN_OR_RETURN(const int size, Number(env, "OMPI_COMM_WORLD_SIZE"));
  std::vector<std::string> hosts = {"127.0.0.1"};
  if (const char* list = env("SLUICE_HOSTS")) hosts = absl::StrSplit(list, ',');
  const int block = (size + static_cast<int>(hosts.size()) - 1) / static_cast<int>(hosts.size());
  std::vector<std::string> host_of_rank;
  for (int r = 0; r < size; ++r) host_of_rank.push_back(hosts[r / block]);
  return FromRanks(host_of_rank, rank, options);
}

absl::StatusOr<Cluster> Cluster::FromEnvironment() {
  return FromEnvironment({}, [](const char* name) { return std::getenv(name); });
}

absl::StatusOr<Cluster> Cluster::FromEnvironment(const LaunchOptions& options,
                                                 const Environment& env) {
  if (const char* config = env("TF_CONFIG")) return FromTfConfig(config);
  if (env("SLURM_PROCID") != nullptr) return FromSlurm(options, env);
  if (env("OMPI_COMM_WORLD_RANK") != nullptr) return FromMpi(options, env);
  return absl::NotFoundError(
      "no cluster in the environment: none of TF_CONFIG, SLURM_PROCID, OMPI_COMM_WORLD_RANK is "
      "set");
}

}  // namespace sluice
