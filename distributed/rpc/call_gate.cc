#include "distributed/rpc/call_gate.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "distributed/security/security.h"
#include "executor/device/memory_account.h"
#include "graph/status.h"
#include "grpc/grpc.h"

namespace sluice {
namespace {

// The property of a connection that holds its number.
constexpr char kNumber[] = "sluice-connection";

std::string_view TextOf(const grpc_slice& slice) {
  return {reinterpret_cast<const char*>(GRPC_SLICE_START_PTR(slice)), GRPC_SLICE_LENGTH(slice)};
}

std::string_view Header(const grpc_metadata* headers, size_t count, std::string_view name) {
  for (const grpc_metadata* header = headers; header != headers + count; ++header) {
    if (TextOf(header->key) == name) return TextOf(header->value);
  }
  return "";
}

// 0 if the connection has no number.
CallGate::Connection NumberOf(const grpc_auth_context* context) {
  grpc_auth_property_iterator it = grpc_auth_context_find_properties_by_name(context, kNumber);
  const grpc_auth_property* const number = grpc_auth_property_iterator_next(&it);
  return number == nullptr ? 0 : std::strtoull(number->value, nullptr, 10);
}

// Gives the connection a number with its first call. gRPC passes the calls of a connection one
// after the other.
CallGate::Connection NumberOf(grpc_auth_context* context, std::atomic<uint64_t>& last) {
  const CallGate::Connection known = NumberOf(context);
  if (known != 0) return known;
  const CallGate::Connection number = last.fetch_add(1) + 1;
  grpc_auth_context_add_cstring_property(context, kNumber, StrCat(number).c_str());
  return number;
}

}  // namespace

int64_t CallGate::DefaultMax() {
  constexpr int64_t kCallBytes = 16 << 10;
  return std::clamp<int64_t>(SystemMemoryBytes() / 16 / kCallBytes, 2048, 1 << 20);
}

CallGate::CallGate(Options options) : options_(std::move(options)) {}

grpc_auth_metadata_processor CallGate::AsProcessor(std::shared_ptr<CallGate> gate) {
  const auto destroy = [](void* state) { delete static_cast<std::shared_ptr<CallGate>*>(state); };
  return {&Process, destroy, new std::shared_ptr<CallGate>(std::move(gate))};
}

void CallGate::Process(void* gate, grpc_auth_context* context, const grpc_metadata* headers,
                       size_t count, grpc_process_auth_metadata_done_cb done, void* user_data) {
  static std::atomic<uint64_t> last_number{0};
  const absl::Status status =
      (*static_cast<std::shared_ptr<CallGate>*>(gate))
          ->Begins(NumberOf(context, last_number), Header(headers, count, ":path"),
                   Header(headers, count, kTokenHeader), std::chrono::steady_clock::now());
  done(user_data, nullptr, 0, nullptr, 0, static_cast<grpc_status_code>(status.code()),
       status.ok() ? nullptr : std::string(status.message()).c_str());
}

CallGate::Connection CallGate::ConnectionOf(grpc_call* call) {
  grpc_auth_context* const context = grpc_call_auth_context(call);
  const Connection number = NumberOf(static_cast<const grpc_auth_context*>(context));
  grpc_auth_context_release(context);
  return number;
}

absl::Status CallGate::Begins(Connection connection, std::string_view path, std::string_view token,
                              Time now) {
  absl::Status status = CheckMethod(path, token);
  const bool is_stranger = IsStranger(connection);
  bool closes = false;
  {
    ScopedLock lock(&mutex_);
    if (now - last_forgot_ > kArrives) ForgetUnarrived(now);
    Calls& calls = connections_[connection];
    if (status.ok()) status = Count(calls, is_stranger, now);
    if (!status.ok()) closes = Reject(calls, is_stranger, now);
  }
  if (closes && options_.close) options_.close(connection);
  return status;
}

absl::Status CallGate::CheckMethod(std::string_view path, std::string_view token) const {
  const auto method = options_.methods.find(path);
  if (method == options_.methods.end()) {
    return absl::UnimplementedError("the server has no such method");
  }
  const bool needs_token = method->second && !options_.token.empty();
  if (needs_token && !IsToken(token, CurrentToken(options_.token))) {
    return absl::UnauthenticatedError("the call has not this cluster's token");
  }
  return absl::OkStatus();
}

// Asks only about connections with many calls, because the question takes another lock.
bool CallGate::IsStranger(Connection connection) {
  {
    ScopedLock lock(&mutex_);
    const auto it = connections_.find(connection);
    if (it == connections_.end()) return false;
    const Calls& calls = it->second;
    if (calls.open < kMaxOfStranger && calls.rejected < kMaxRejectedOfStranger - 1) return false;
  }
  return options_.is_stranger && options_.is_stranger(connection);
}

absl::Status CallGate::Count(Calls& calls, bool is_stranger, Time now) {
  if (is_stranger && calls.open >= kMaxOfStranger) {
    return absl::UnavailableError(
        StrCat("the connection has ", calls.open,
               " open calls, as many as the server permits before the first message"));
  }
  if (calls.open >= options_.max_of_connection) {
    return absl::ResourceExhaustedError(
        StrCat("the connection has ", calls.open, " open calls, as many as the server permits"));
  }
  if (open_ >= options_.max && calls.open >= kAlways) {
    return absl::ResourceExhaustedError(
        StrCat("the clients have ", open_, " open calls, as many as the server permits"));
  }
  ++open_;
  ++calls.open;
  ++calls.waiting;
  ++waiting_;
  calls.last_begun = now;
  return absl::OkStatus();
}

bool CallGate::Reject(Calls& calls, bool is_stranger, Time now) {
  if (now - calls.window > kWindow) {
    calls.window = now;
    calls.rejected = 0;
  }
  return ++calls.rejected % (is_stranger ? kMaxRejectedOfStranger : kMaxRejected) == 0;
}

void CallGate::ForgetUnarrived(Time now) {
  last_forgot_ = now;
  for (auto it = connections_.begin(); it != connections_.end();) {
    Calls& calls = it->second;
    if (now - calls.last_begun > kArrives) {
      open_ -= calls.waiting;
      waiting_ -= calls.waiting;
      calls.open -= std::exchange(calls.waiting, 0);
    }
    const bool is_idle = calls.open == 0 && now - calls.window > kWindow;
    it = is_idle ? connections_.erase(it) : std::next(it);
  }
}

void CallGate::Arrives(Connection connection) {
  ScopedLock lock(&mutex_);
  Calls& calls = connections_[connection];
  if (calls.waiting > 0) {
    --calls.waiting;
    --waiting_;
    return;
  }
  // ForgetUnarrived has counted the call as ended.
  ++calls.open;
  ++open_;
}

void CallGate::Ends(Connection connection) {
  ScopedLock lock(&mutex_);
  const auto it = connections_.find(connection);
  --open_;
  if (--it->second.open == 0 && it->second.rejected == 0) connections_.erase(it);
}

bool CallGate::has_waiting_calls() {
  ScopedLock lock(&mutex_);
  return waiting_ > 0;
}

int64_t CallGate::open_calls() {
  ScopedLock lock(&mutex_);
  return open_;
}

}  // namespace sluice
