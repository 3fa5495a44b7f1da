#include "distributed/master/session_table.h"

#include <algorithm>

#include "executor/device/device_set.h"
#include "graph/status.h"

namespace sluice {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

absl::Status Unknown(const std::string& handle, const char* hint) {
  return absl::AbortedError(StrCat("Session ", handle, " is not found.", hint));
}

// Returns "ipv4:10.0.0.7" for "ipv4:10.0.0.7:41200", and "lane" for "lane:3".
std::string HostOf(const std::string& client) { return client.substr(0, client.rfind(':')); }

}  // namespace

SessionTable::Use::Use(SessionTable* table, std::shared_ptr<Entry> entry, std::string client)
    : table_(table), entry_(std::move(entry)), client_(std::move(client)) {}

SessionTable::Use::~Use() {
  if (entry_ != nullptr) table_->UseEnds(*entry_, client_);
}

void SessionTable::UseEnds(Entry& entry, const std::string& client) {
  const Time now = Clock::now();
  ScopedLock lock(&mutex_);
  EndCall(client);
  entry.last_used = now;
  --entry.running;
  if (--running_ == 0) unused_.NotifyAll();
}

absl::Status SessionTable::BeginCall(const std::string& client) {
  if (client.empty()) return absl::OkStatus();
  const std::pair<std::string, int> limits[] = {{client, most_calls_.of_client},
                                                {HostOf(client), most_calls_.of_host}};
  for (const auto& [name, most] : limits) {
    const auto calls = calls_.find(name);
    if (calls == calls_.end() || calls->second < most) continue;
    return absl::ResourceExhaustedError(StrCat("expected at most ", most, " steps of client ", name,
                                               " that run at once, got more"));
  }
  for (const auto& [name, most] : limits) ++calls_[name];
  return absl::OkStatus();
}

void SessionTable::EndCall(const std::string& client) {
  if (client.empty()) return;
  for (const std::string& name : {client, HostOf(client)}) {
    const auto calls = calls_.find(name);
    if (--calls->second == 0) calls_.erase(calls);
  }
}

void SessionTable::Add(const std::string& handle, int64_t number,
                       std::shared_ptr<MasterSession> session, const std::string& client,
                       size_t graph_bytes) {
  auto entry = std::make_shared<Entry>();
  entry->session = std::move(session);
  entry->number = number;
  entry->created = entry->last_used = Clock::now();
  entry->client = client;
  entry->graph_bytes = static_cast<int64_t>(graph_bytes);
  ScopedLock lock(&mutex_);
  sessions_.emplace(handle, std::move(entry));
}

absl::StatusOr<SessionTable::Use> SessionTable::Find(const std::string& handle,
                                                     const std::string& client, const char* hint) {
  ScopedLock lock(&mutex_);
  const auto it = sessions_.find(handle);
  if (it == sessions_.end()) return Unknown(handle, hint);
  SLUICE_RETURN_IF_ERROR(BeginCall(client));
  Entry& entry = *it->second;
  if (!client.empty() && entry.client != client) entry.client = client;
  entry.lost_since = Time::max();
  ++entry.running;
  ++running_;
  return Use(this, it->second, client);
}

absl::StatusOr<SessionTable::Removed> SessionTable::Remove(const std::string& handle,
                                                           const char* hint) {
  const Time now = Clock::now();
  ScopedLock lock(&mutex_);
  const auto removed = sessions_.extract(handle);
  if (removed.empty()) return Unknown(handle, hint);
  const Entry& entry = *removed.mapped();
  return Removed{entry.session, InfoOf(entry, true, now), "its client closed it"};
}

std::vector<SessionTable::Removed> SessionTable::RemoveAll() {
  const Time now = Clock::now();
  std::vector<Removed> sessions;
  ScopedLock lock(&mutex_);
  for (auto& [handle, entry] : sessions_) {
    sessions.push_back({entry->session, InfoOf(*entry, true, now), "all sessions are closed"});
  }
  sessions_.clear();
  return sessions;
}

SessionInfo SessionTable::InfoOf(const Entry& entry, bool is_connected, Time now) {
  SessionInfo info;
  info.number = entry.number;
  info.client = entry.client;
  info.is_connected = is_connected;
  info.running = entry.running;
  info.age = duration_cast<milliseconds>(now - entry.created);
  if (entry.running == 0) info.idle = duration_cast<milliseconds>(now - entry.last_used);
  info.graph_bytes = entry.graph_bytes;
  if (const auto& memory = entry.session->session().devices().memory(); memory != nullptr) {
    info.memory_bytes = memory->bytes_in_use();
  }
  return info;
}

std::set<std::string> SessionTable::LostClients(const IsConnected& is_connected) {
  std::set<std::string> clients;
  {
    ScopedLock lock(&mutex_);
    for (const auto& [handle, entry] : sessions_) clients.insert(entry->client);
  }
  std::erase_if(clients, is_connected);
  return clients;
}

std::vector<SessionInfo> SessionTable::Describe(const IsConnected& is_connected) {
  const std::set<std::string> lost = LostClients(is_connected);
  const Time now = Clock::now();
  std::vector<SessionInfo> infos;
  ScopedLock lock(&mutex_);
  for (const auto& [handle, entry] : sessions_) {
    infos.push_back(InfoOf(*entry, !lost.contains(entry->client), now));
  }
  std::sort(infos.begin(), infos.end(),
            [](const SessionInfo& a, const SessionInfo& b) { return a.number < b.number; });
  return infos;
}

std::vector<SessionTable::Removed> SessionTable::RemoveExpired(const SessionLimits& limits,
                                                               const IsConnected& is_connected) {
  const std::set<std::string> lost = LostClients(is_connected);
  const Time now = Clock::now();
  std::vector<Removed> expired;
  std::map<std::string, std::set<std::pair<Time, std::string>>> surplus;  // by host
  ScopedLock lock(&mutex_);
  const auto expire = [&](const std::string& handle, const char* why) {
    mutex_.AssertHeld();
    const auto it = sessions_.find(handle);
    expired.push_back({it->second->session, InfoOf(*it->second, false, now), why});
    sessions_.erase(it);
  };
  for (auto next = sessions_.begin(); next != sessions_.end();) {
    const std::string handle = next->first;
    Entry& entry = *(next++)->second;
    if (entry.running > 0) continue;
    if (limits.idle > milliseconds(0) && now - entry.last_used >= limits.idle) {
      expire(handle, "idle");
      continue;
    }
    if (limits.lost == milliseconds(0) || !lost.contains(entry.client)) {
      entry.lost_since = Time::max();
      continue;
    }
    entry.lost_since = std::min(entry.lost_since, now);
    if (now - entry.lost_since >= limits.lost) {
      expire(handle, "its client is lost");
    } else if (now - entry.lost_since >= limits.surplus_lost) {
      surplus[HostOf(entry.client)].emplace(entry.last_used, handle);
    }
  }
  for (auto& [host, sessions] : surplus) {
    while (static_cast<int>(sessions.size()) > limits.lost_per_host) {
      expire(sessions.begin()->second, "its client is lost, and its host left newer ones");
      sessions.erase(sessions.begin());
    }
  }
  return expired;
}

bool SessionTable::AwaitUnused(std::chrono::steady_clock::time_point deadline) {
  ScopedLock lock(&mutex_);
  while (running_ > 0) {
    if (!unused_.WaitUntil(&mutex_, deadline)) return running_ == 0;
  }
  return true;
}

}  // namespace sluice
