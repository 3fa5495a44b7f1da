// Where the tasks of a cluster are at this moment: the cluster's list, and what tasks that came
// later, or came back elsewhere, said of themselves.
//
// Thread safety: all methods from any thread.
#ifndef SLUICE_DISTRIBUTED_CLUSTER_ADDRESS_BOOK_H_
#define SLUICE_DISTRIBUTED_CLUSTER_ADDRESS_BOOK_H_

#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "distributed/cluster/cluster_spec.h"

namespace sluice {

class AddressBook {
 public:
  explicit AddressBook(ClusterSpec spec) : spec_(std::move(spec)) {}

  // NOT_FOUND for tasks that nobody told of.
  absl::StatusOr<std::string> Find(const TaskName& task) const {
    std::lock_guard<std::mutex> lock(mutex_);
    return spec_.Address(task);
  }
  void Set(const TaskName& task, const std::string& address) {
    std::lock_guard<std::mutex> lock(mutex_);
    spec_.SetAddress(task, address);
  }
  std::vector<TaskName> tasks() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return spec_.tasks();
  }

 private:
  mutable std::mutex mutex_;
  ClusterSpec spec_;  // guarded by mutex_
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_CLUSTER_ADDRESS_BOOK_H_
