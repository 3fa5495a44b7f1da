// Holds the present addresses of a cluster's tasks. They come from the cluster spec. Tasks that
// start later, or restart at another address, report their addresses.
//
// Thread safety: all methods may be called from any thread.
#ifndef SLUICE_DISTRIBUTED_CLUSTER_ADDRESS_BOOK_H_
#define SLUICE_DISTRIBUTED_CLUSTER_ADDRESS_BOOK_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "distributed/cluster/cluster_spec.h"
#include "graph/mutex.h"
#include "graph/status.h"

namespace sluice {

class AddressBook {
 public:
  explicit AddressBook(ClusterSpec spec) : spec_(std::move(spec)) {}

  // NOT_FOUND for a task without an address.
  absl::StatusOr<std::string> Find(const TaskName& task) const {
    ScopedLock lock(&mutex_);
    return spec_.Address(task);
  }
  // `task` is a name like "/job:worker/replica:0/task:1".
  absl::StatusOr<std::string> FindByName(std::string_view task) const {
    SLUICE_ASSIGN_OR_RETURN(const TaskName name, TaskName::Parse(task));
    return Find(name);
  }
  void Set(const TaskName& task, const std::string& address) {
    ScopedLock lock(&mutex_);
    spec_.SetAddress(task, address);
  }
  ClusterSpec spec() const {
    ScopedLock lock(&mutex_);
    return spec_;
  }
  std::vector<TaskName> tasks() const {
    ScopedLock lock(&mutex_);
    return spec_.tasks();
  }

 private:
  mutable Mutex mutex_;
  ClusterSpec spec_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_CLUSTER_ADDRESS_BOOK_H_
