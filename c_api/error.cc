#include "c_api/handles.h"

namespace sluice::c_api {

sluice_error* ErrorOf(const absl::Status& status) {
  if (status.ok()) return nullptr;
  return new sluice_error{status.code(), std::string(status.message())};
}

}  // namespace sluice::c_api

int32_t sluice_api_version() noexcept { return SLUICE_C_API_VERSION; }

int32_t sluice_error_code(const sluice_error* error) noexcept {
  return error == nullptr ? SLUICE_OK : static_cast<int32_t>(error->code);
}

const char* sluice_error_message(const sluice_error* error) noexcept {
  return error == nullptr ? "" : error->message.c_str();
}

void sluice_error_free(sluice_error* error) noexcept { delete error; }
