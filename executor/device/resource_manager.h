// A ResourceManager holds the named state that kernels share, such as variables, queues,
// accumulators and tables. It finds a resource by container, class and name. A container is a group
// of resources that can be cleared together, as in TensorFlow.
//
// Each device has a manager, whose resources outlive steps. Each step has one for its stacks and
// TensorArrays.
//
// Thread safety: all methods may be called from any thread.
// Ownership: shared. A resource lives while the manager or any std::shared_ptr holds it.
#ifndef SLUICE_EXECUTOR_DEVICE_RESOURCE_MANAGER_H_
#define SLUICE_EXECUTOR_DEVICE_RESOURCE_MANAGER_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <typeindex>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/mutex.h"
#include "graph/tensor/resource_handle.h"

namespace sluice {

class Resource {
 public:
  virtual ~Resource() = default;
  // Returns one line for reports: "queue 'q': 3 of 10 elements".
  virtual std::string DebugString() const = 0;
};

// Stores resources and finds them again. An empty container name stands for kDefaultContainer.
//
// Class T of the methods is a Resource with a member `static constexpr const char* kTypeName`, its
// name in messages and handles. If TensorFlow has the class, this is TensorFlow's mangled name
// ("N10tensorflow3VarE").
class ResourceManager {
 public:
  static constexpr const char* kDefaultContainer = "localhost";

  // Returns the resource of class T with this name. If there is none, NOT_FOUND "Resource
  // <container>/<name>/<type> does not exist.".
  template <typename T>
  absl::StatusOr<std::shared_ptr<T>> Lookup(std::string_view container, std::string_view name) {
    absl::StatusOr<std::shared_ptr<Resource>> found =
        LookupAny(container, name, typeid(T), T::kTypeName);
    if (!found.ok()) return found.status();
    return std::static_pointer_cast<T>(*std::move(found));
  }
  template <typename T>
  absl::StatusOr<std::shared_ptr<T>> Lookup(const ResourceHandle& handle) {
    if (handle.object && handle.type_name == T::kTypeName) {
      return std::static_pointer_cast<T>(handle.object);
    }
    return Lookup<T>(handle.container, handle.name);
  }
  // Returns the resource of class T with this name. If there is none, calls `make`, and stores and
  // returns its result, unless it is an error, which is only returned. `make` must not use the
  // manager, whose lock is held during the call.
  template <typename T>
  absl::StatusOr<std::shared_ptr<T>> LookupOrCreate(
      std::string_view container, std::string_view name,
      const std::function<absl::StatusOr<std::shared_ptr<T>>()>& make) {
    auto found = LookupOrCreateAny(container, name, typeid(T),
                                   [&]() -> absl::StatusOr<std::shared_ptr<Resource>> {
                                     absl::StatusOr<std::shared_ptr<T>> made = make();
                                     if (!made.ok()) return made.status();
                                     return std::shared_ptr<Resource>(*std::move(made));
                                   });
    if (!found.ok()) return found.status();
    return std::static_pointer_cast<T>(*std::move(found));
  }
  template <typename T>
  absl::Status Delete(std::string_view container, std::string_view name) {
    return DeleteAny(container, name, typeid(T), T::kTypeName);
  }
  // Removes all resources of a container. ClearAll removes the resources of all containers, except
  // containers whose name begins with '_'. These hold resources of the task (the process in a
  // cluster) and not of graphs.
  void Clear(std::string_view container);
  void ClearAll();
  // Returns the DebugString of each resource, sorted by container. Leaves out containers whose name
  // begins with '_'.
  std::vector<std::string> Describe() const;

 private:
  using Key = std::tuple<std::string, std::type_index, std::string>;
  absl::StatusOr<std::shared_ptr<Resource>> LookupAny(std::string_view container,
                                                      std::string_view name, std::type_index type,
                                                      const char* type_name) const;
  absl::StatusOr<std::shared_ptr<Resource>> LookupOrCreateAny(
      std::string_view container, std::string_view name, std::type_index type,
      const std::function<absl::StatusOr<std::shared_ptr<Resource>>()>& make);
  absl::Status DeleteAny(std::string_view container, std::string_view name, std::type_index type,
                         const char* type_name);

  std::atomic<bool> is_used_{false};  // whether a resource was made since the last ClearAll
  mutable Mutex mutex_;
  std::map<Key, std::shared_ptr<Resource>> resources_ ABSL_GUARDED_BY(mutex_);
};

class KernelInit;
struct ResourceName {
  std::string container;
  std::string name;
  bool is_private = false;
};
// Returns the container and the name of a stateful op's resource. By TensorFlow's rule the name is
// the attribute `shared_name`. If this attribute is empty, the name is the node's name if
// `use_node_name` is true. Otherwise it is the name "_<process counter>_<node name>", which no
// other node has; then is_private is true. INVALID_ARGUMENT if attribute `container` has a
// character that TensorFlow does not allow, or if `shared_name` begins with '_'.
absl::StatusOr<ResourceName> ResourceNameOf(const KernelInit& init, bool use_node_name);

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_DEVICE_RESOURCE_MANAGER_H_
