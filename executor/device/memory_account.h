// Counts and limits the memory of a session's tensors.
//
// An account is the allocator of the session's steps. It gets the memory from another allocator and
// counts the bytes. A block counts until it is freed, even after the end of the session, because a
// variable of a server can outlive the session that assigned it. Feeds, the characters of strings,
// and the tensors of dataset functions are not counted.
//
// Thread safety: all methods may be called from any thread.
// Ownership: shared_ptrs own an account. If the last of them is destroyed while blocks are in use,
//   the account lives until its last block is freed.
// Errors: Allocate returns null if the block would exceed the limit, and the step ends with
//   RESOURCE_EXHAUSTED.
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
  // Makes an account that gets its memory from `source`. `source` must outlive the account.
  // `limit` is in bytes. 0 means no limit. `session` is the number by which audits of files name
  // the session (executor/wait/session_scope.h). 0 means that the session has no number.
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

// Returns a text for the error of a step that gets no memory: "The session uses 812.0 MB of at most
// 900.0 MB. All sessions use 1500.0 MB of at most 4000.0 MB." The first sentence is missing if
// `account` is null or has no limit. The second sentence is missing if the sessions of the process
// have no common limit.
std::string DescribeMemoryLimits(const MemoryAccount* account);

// Returns the number of bytes that this process may use: the smallest of the machine's memory, the
// limit of the process's control group, and the process's RLIMIT_DATA.
int64_t SystemMemoryBytes();
// Returns the limit, in bytes, of this process's control group and of the groups that contain it. 0
// if there is no limit below the machine's memory.
int64_t ContainerMemoryBytes();

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_DEVICE_MEMORY_ACCOUNT_H_
