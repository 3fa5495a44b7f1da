#include "distributed/wire/worker_method.h"

#include "absl/strings/match.h"
#include "graph/status.h"

namespace sluice {

std::string WorkerMethod(const char* name) { return StrCat("/tensorflow.WorkerService/", name); }

absl::Status FromTask(const std::string& task, const absl::Status& status) {
  if (status.ok() || absl::StartsWith(status.message(), "From /job:")) return status;
  return Annotate(status, StrCat("From ", task, ":\n"));
}

}  // namespace sluice
