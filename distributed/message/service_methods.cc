#include "distributed/message/service_methods.h"

#include "graph/status.h"

namespace sluice {

std::string MasterMethod(const char* name) { return StrCat("/tensorflow.MasterService/", name); }

std::string WorkerMethod(const char* name) { return StrCat("/tensorflow.WorkerService/", name); }

bool NamesTask(const absl::Status& status) {
  return ToStd(status.message()).starts_with("From /job:");
}

absl::Status FromTask(const std::string& task, const absl::Status& status) {
  if (status.ok() || NamesTask(status)) return status;
  return Annotate(status, StrCat("From ", task, ":\n"));
}

}  // namespace sluice
