// Counts and limits the memory of a session's tensors.
//
// An account is the allocator of the session's steps and takes its blocks from another allocator.
// Blocks stay on the account until they are freed, also after the session's end: a variable of a
// server outlives the session that assigned it. Feeds, the characters of strings, and the tensors
// of dataset functions are not counted.
//
// Thread safety: all methods may be called from any thread.
// Ownership: shared. An account exists until its last block is freed, even if no pointer owns it.
// Errors: Allocate returns null beyond the limit, and the step ends with RESOURCE_EXHAUSTED.
#ifndef SLUICE_EXECUTOR_DEVICE_MEMORY_ACCOUNT_H_
#define SLUICE_EXECUTOR_DEVICE_MEMORY_ACCOUNT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "graph/tensor/buffer.h"

namespace sluice {

class MemoryAccount final : public Allocator {
 public:
  // Makes an account that takes blocks from `source`, which outlives them. If `limit` is 0, there
  // is no limit. `session` is the session's number, or 0 (executor/wait/session_scope.h).
  static std::shared_ptr<MemoryAccount> Open(Allocator& source, int64_t limit, int64_t session = 0);

  void* Allocate(size_t bytes) override;
  void Deallocate(void* block, size_t bytes) override;

  int64_t bytes_in_use() const { return held_.load(std::memory_order_relaxed) - 1; }
  int64_t limit() const { return limit_; }
  int64_t session() const { return session_; }

 private:
  MemoryAccount(Allocator& source, int64_t limit, int64_t session)
      : source_(source), limit_(limit), session_(session) {}
  ~MemoryAccount() override = default;
  void Release(int64_t bytes);

  Allocator& source_;
  const int64_t limit_;
  const int64_t session_;
  // The number of bytes in use, plus 1 as long as a shared_ptr owns the account. The account is
  // destroyed when the number becomes 0.
  std::atomic<int64_t> held_{1};
};

// Returns the part of a step's error that describes the limits: "The session uses 812.0 MB of at
// most 900.0 MB. …". Empty if there are no limits. `account` may be null.
std::string DescribeMemoryLimits(const MemoryAccount* account);

// The memory that this process may use: the smallest of the machine's memory, the limits of the
// process's control group, and RLIMIT_DATA.
int64_t SystemMemoryBytes();
// The memory limit of this process's control group. 0 if it has none.
int64_t ContainerMemoryBytes();

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_DEVICE_MEMORY_ACCOUNT_H_
