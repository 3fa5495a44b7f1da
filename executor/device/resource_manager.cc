#include "executor/device/resource_manager.h"

#include <atomic>
#include <cctype>
#include <utility>

#include "executor/kernel/kernel.h"
#include "graph/strings.h"

namespace sluice {
namespace {

std::string ContainerOrDefault(std::string_view container) {
  return std::string(container.empty() ? ResourceManager::kDefaultContainer : container);
}

// Containers with such names, which users cannot give, hold the task's own resources. These are
// neither cleared nor shown.
bool IsOfTask(std::string_view container) { return container.starts_with('_'); }

bool IsValidContainer(std::string_view container) {
  for (size_t i = 0; i < container.size(); ++i) {
    const char c = container[i];
    const bool inside = std::isalnum(static_cast<unsigned char>(c)) || c == '.';
    if (!inside && (i == 0 || (c != '-' && c != '_' && c != '/'))) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<std::shared_ptr<Resource>> ResourceManager::LookupAny(std::string_view container,
                                                                     std::string_view name,
                                                                     std::type_index type,
                                                                     const char* type_name) const {
  const Key key(ContainerOrDefault(container), type, name);
  {
    ScopedLock lock(&mutex_);
    auto it = resources_.find(key);
    if (it != resources_.end()) return it->second;
  }
  return absl::NotFoundError(
      StrCat("Resource ", std::get<0>(key), "/", name, "/", type_name, " does not exist."));
}

absl::StatusOr<std::shared_ptr<Resource>> ResourceManager::LookupOrCreateAny(
    std::string_view container, std::string_view name, std::type_index type,
    const std::function<absl::StatusOr<std::shared_ptr<Resource>>()>& make) {
  Key key(ContainerOrDefault(container), type, name);
  ScopedLock lock(&mutex_);
  auto it = resources_.find(key);
  if (it != resources_.end()) return it->second;
  SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<Resource> made, make());
  resources_.emplace(std::move(key), made);
  is_used_.store(true, std::memory_order_release);
  return made;
}

absl::Status ResourceManager::DeleteAny(std::string_view container, std::string_view name,
                                        std::type_index type, const char* type_name) {
  const Key key(ContainerOrDefault(container), type, name);
  std::shared_ptr<Resource> last;  // destroyed without the lock
  {
    ScopedLock lock(&mutex_);
    auto it = resources_.find(key);
    if (it != resources_.end()) {
      last = std::move(it->second);
      resources_.erase(it);
    }
  }
  if (last) return absl::OkStatus();
  return absl::NotFoundError(
      StrCat("Resource ", std::get<0>(key), "/", name, "/", type_name, " does not exist."));
}

void ResourceManager::Clear(std::string_view container) {
  const std::string cleared = ContainerOrDefault(container);
  if (IsOfTask(cleared)) return;
  std::vector<std::shared_ptr<Resource>> dropped;  // destroyed without the lock
  ScopedLock lock(&mutex_);
  for (auto it = resources_.begin(); it != resources_.end();) {
    if (std::get<0>(it->first) == cleared) {
      dropped.push_back(std::move(it->second));
      it = resources_.erase(it);
    } else {
      ++it;
    }
  }
}

void ResourceManager::ClearAll() {
  if (!is_used_.load(std::memory_order_acquire)) return;  // steps call this at their end
  is_used_.store(false, std::memory_order_release);
  std::map<Key, std::shared_ptr<Resource>> dropped;  // destroyed without the lock
  ScopedLock lock(&mutex_);
  dropped.swap(resources_);
  for (auto it = dropped.begin(); it != dropped.end();) {
    auto next = std::next(it);
    if (IsOfTask(std::get<0>(it->first))) resources_.insert(dropped.extract(it));
    it = next;
  }
}

std::vector<std::string> ResourceManager::Describe() const {
  std::vector<std::shared_ptr<Resource>> all;
  {
    ScopedLock lock(&mutex_);
    for (const auto& [key, resource] : resources_) {
      if (!IsOfTask(std::get<0>(key))) all.push_back(resource);
    }
  }
  std::vector<std::string> lines;
  for (const auto& resource : all) lines.push_back(resource->DebugString());
  return lines;
}

absl::StatusOr<ResourceName> ResourceNameOf(const KernelInit& init, bool use_node_name) {
  ResourceName result;
  result.container = init.AttrOr<std::string>("container", "");
  SLUICE_INVALID_IF(!IsValidContainer(result.container),
                    "container contains invalid characters: ", result.container);
  if (result.container.empty()) result.container = ResourceManager::kDefaultContainer;
  result.name = init.AttrOr<std::string>("shared_name", "");
  SLUICE_INVALID_IF(result.name.starts_with("_"),
                    "shared_name cannot start with '_':", result.name);
  if (!result.name.empty()) return result;
  if (use_node_name) {
    result.name = init.name();
    return result;
  }
  static std::atomic<int64_t> counter{0};
  result.name = StrCat("_", counter.fetch_add(1), "_", init.name());
  result.is_private = true;
  return result;
}

}  // namespace sluice
