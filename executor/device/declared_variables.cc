#include "executor/device/declared_variables.h"

#include <utility>

#include "executor/device/resource_manager.h"
#include "graph/ir/graph.h"
#include "graph/ir/variable_use.h"
#include "graph/mutex.h"
#include "graph/status.h"

namespace sluice {
namespace {

// TensorFlow's shared_name for a variable that is not shared.
constexpr std::string_view kAnonymousName = "cd2c89b7-88b7-44c8-ad83-06c2a9158347";

struct Declaration {
  DataType dtype = DT_INVALID;
  PartialShape shape;
  std::string job_name;
  std::weak_ptr<const Job> job;

  bool Fits(const Declaration& other) const {
    return dtype == other.dtype && shape.IsCompatibleWith(other.shape);
  }
  std::string ToString() const { return StrCat(DataTypeName(dtype), shape.ToString()); }
};

// Holds the declaration of a variable. It is a resource beside the variable in its container.
class DeclaredVariable : public Resource {
 public:
  static constexpr const char* kTypeName = "DeclaredVariable";
  explicit DeclaredVariable(Declaration first) : declaration_(std::move(first)) {}

  // Returns the declaration that `next` contradicts. If there is none, returns one without a type,
  // and stores `next` if the job of the stored declaration has ended.
  Declaration Replace(const Declaration& next, bool needs_open_session) {
    ScopedLock lock(&mutex_);
    const bool is_another = declaration_.job.lock() != next.job.lock();
    const bool counts = is_another && !(needs_open_session && declaration_.job.expired());
    if (counts && !declaration_.Fits(next)) return declaration_;
    if (is_another && declaration_.job.expired()) declaration_ = next;
    return {};
  }

  std::string DebugString() const override {
    ScopedLock lock(&mutex_);
    return StrCat("declared as ", declaration_.ToString(), " by ", declaration_.job_name);
  }

 private:
  mutable Mutex mutex_;
  Declaration declaration_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

absl::Status DeclareVariable(const KernelInit& init, const std::shared_ptr<const Job>& job) {
  const Node& node = init.node();
  if (!CreatesVariable(node)) return absl::OkStatus();
  SLUICE_ASSIGN_OR_RETURN(const ResourceName name, ResourceNameOf(init, true));
  if (name.name == kAnonymousName) return absl::OkStatus();
  const Declaration mine{init.attr<DataType>("dtype"), init.attr<PartialShape>("shape"), job->name,
                         job};
  SLUICE_ASSIGN_OR_RETURN(
      const std::shared_ptr<DeclaredVariable> declared,
      init.resources().LookupOrCreate<DeclaredVariable>(
          name.container, name.name, [&]() -> absl::StatusOr<std::shared_ptr<DeclaredVariable>> {
            return std::make_shared<DeclaredVariable>(mine);
          }));
  const Declaration clash = declared->Replace(mine, node.output_type(0) == DT_RESOURCE);
  if (clash.dtype == DT_INVALID) return absl::OkStatus();
  return InvalidArgument(
      node.Describe(), ": expected ", clash.ToString(), ", as ", clash.job_name,
      " has declared the variable '", name.name, "' of container '", name.container, "', got ",
      mine.ToString(), " from ", job->name,
      "; reset the container, or give the jobs containers or a session state of their own");
}

}  // namespace sluice
