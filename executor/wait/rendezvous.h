// A table through which Send nodes pass tensors to Recv nodes by key. If Send comes first, the
// table keeps the tensor. If Recv comes first, the table keeps its callback.
//
// Thread safety: all methods may be called from any thread.
// Blocking: no method blocks. RecvAsync calls `done` exactly once, without a lock, on the thread of
// the caller, of the sender, of the abort or of the cancellation.
// Errors: after StartAbort every call and every waiting receiver gets the abort's status. CANCELLED
// "RecvAsync is cancelled." if the receiver's cancellation manager fires.
#ifndef SLUICE_EXECUTOR_WAIT_RENDEZVOUS_H_
#define SLUICE_EXECUTOR_WAIT_RENDEZVOUS_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/tensor/tensor.h"

namespace sluice {

class CancellationManager;

// The parts of a key. Its text is
// `<src_device>;<incarnation, 16 hex digits>;<dst_device>;<tensor_name>;<frame_id>:<iteration>`
struct RendezvousKey {
  std::string src_device;
  uint64_t src_incarnation = 0;
  std::string dst_device;
  std::string tensor_name;
  uint64_t frame_id = 0;
  int64_t iteration = 0;

  // INVALID_ARGUMENT "Invalid  rendezvous key: <key>" if `text` does not have the form above.
  static absl::StatusOr<RendezvousKey> Parse(std::string_view text);
  std::string ToString() const;
};

class Rendezvous {
 public:
  using Done = std::function<void(absl::Status, Tensor, bool is_dead)>;
  virtual ~Rendezvous() = default;
  // Passes `value` to the receiver with this key. `is_dead`: the sender is on a branch that is not
  // taken, so `value` is empty.
  virtual absl::Status Send(const std::string& key, Tensor value, bool is_dead) = 0;
  // Calls `done` when the tensor with this key has been sent. `cancellation` may be null. It
  // outlives the call of `done`.
  virtual void RecvAsync(const std::string& key, CancellationManager* cancellation, Done done) = 0;
  // Ends all present and later calls with `status`.
  virtual void StartAbort(const absl::Status& status) = 0;
};

// A rendezvous within the process.
class LocalRendezvous final : public Rendezvous {
 public:
  LocalRendezvous();
  ~LocalRendezvous() override;
  absl::Status Send(const std::string& key, Tensor value, bool is_dead) override;
  void RecvAsync(const std::string& key, CancellationManager* cancellation, Done done) override;
  void StartAbort(const absl::Status& status) override;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the callbacks of cancellation
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_WAIT_RENDEZVOUS_H_
