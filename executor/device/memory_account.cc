#include "executor/device/memory_account.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>

#include "executor/device/pool_allocator.h"
#include "graph/strings.h"

namespace sluice {
namespace {

std::string Megabytes(int64_t bytes) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f MB", static_cast<double>(bytes) / (1 << 20));
  return text;
}

// Returns the number in a file of a control group. INT64_MAX if the file has no number ("max"
// stands for no limit) or does not exist.
int64_t LimitIn(const std::string& file) {
  int64_t limit;
  if (std::ifstream(file) >> limit && limit > 0) return limit;
  return INT64_MAX;
}

// Adds `size` to `held`, which is 1 more than the bytes in use, unless they would exceed `limit`. A
// block that does not fit must not count even for a moment, or a smaller one could be refused too.
bool AddWithinLimit(std::atomic<int64_t>& held, int64_t size, int64_t limit) {
  int64_t before = held.load(std::memory_order_relaxed);
  do {
    if (size > limit - (before - 1)) return false;
  } while (!held.compare_exchange_weak(before, before + size, std::memory_order_relaxed));
  return true;
}

int64_t MachineBytes() {
  return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

}  // namespace

std::shared_ptr<MemoryAccount> MemoryAccount::Open(Allocator& source, int64_t limit,
                                                   int64_t session) {
  return std::shared_ptr<MemoryAccount>(new MemoryAccount(source, limit, session),
                                        [](MemoryAccount* account) { account->Release(1); });
}

void* MemoryAccount::Allocate(size_t bytes) {
  if (bytes > INT64_MAX / 4) return nullptr;
  const int64_t size = static_cast<int64_t>(bytes);
  if (limit_ <= 0) {
    held_.fetch_add(size, std::memory_order_relaxed);
  } else if (!AddWithinLimit(held_, size, limit_)) {
    return nullptr;
  }
  void* const block = source_.Allocate(bytes);
  if (block == nullptr) Release(size);
  return block;
}

void MemoryAccount::Deallocate(void* block, size_t bytes) {
  source_.Deallocate(block, bytes);
  Release(static_cast<int64_t>(bytes));
}

void MemoryAccount::Release(int64_t bytes) {
  if (held_.fetch_sub(bytes, std::memory_order_acq_rel) == bytes) delete this;
}

std::string DescribeMemoryLimits(const MemoryAccount* account) {
  std::string text;
  if (account != nullptr && account->limit() > 0) {
    text = StrCat("The session uses ", Megabytes(account->bytes_in_use()), " of at most ",
                  Megabytes(account->limit()), ". ");
  }
  const PoolAllocator& pool = PoolAllocator::Global();
  if (pool.Limit() > 0) {
    StrAppend(&text, "All sessions use ", Megabytes(pool.LimitedBytes()), " of at most ",
              Megabytes(pool.Limit()), ". ");
  }
  if (!text.empty()) text.pop_back();
  return text;
}

int64_t ContainerMemoryBytes() {
  // Version 1 of control groups, and version 2 in a container, which sees its group as the root.
  int64_t limit = std::min(LimitIn("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
                           LimitIn("/sys/fs/cgroup/memory.max"));
  // Otherwise the process is in a group such as "0::/system.slice/sluice.service", a unit of
  // systemd. The groups that contain this one limit it too.
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (!line.starts_with("0::/")) continue;
    for (std::string path = line.substr(3); path.size() > 1; path.resize(path.rfind('/'))) {
      limit = std::min(limit, LimitIn(StrCat("/sys/fs/cgroup", path, "/memory.max")));
    }
  }
  // Version 1 of control groups has a huge number for "no limit".
  return limit < MachineBytes() ? limit : 0;
}

int64_t SystemMemoryBytes() {
  int64_t bytes = MachineBytes();
  if (const int64_t container = ContainerMemoryBytes(); container > 0) bytes = container;
  rlimit data;
  if (getrlimit(RLIMIT_DATA, &data) == 0 && data.rlim_cur != RLIM_INFINITY) {
    bytes = std::min(bytes, static_cast<int64_t>(data.rlim_cur));
  }
  return bytes;
}

}  // namespace sluice
