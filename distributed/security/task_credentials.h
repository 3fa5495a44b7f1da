// The gRPC credentials of a task's server. They also pass the headers of each call to the server as
// soon as they arrive, so that it can reject the call (rpc/call_gate.h).
#ifndef SLUICE_DISTRIBUTED_SECURITY_TASK_CREDENTIALS_H_
#define SLUICE_DISTRIBUTED_SECURITY_TASK_CREDENTIALS_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "grpc/grpc_security.h"
#include "grpcpp/security/server_credentials.h"

namespace sluice {

// Each object serves one server and must outlive it. ServerCredentials (security.h) makes it.
class TaskCredentials : public grpc::ServerCredentials {
 public:
  ~TaskCredentials() override;
  // gRPC passes the headers of each call to the result of `processor` before it hands the call to
  // the server. `processor` is called when the server starts.
  void SetProcessor(std::function<grpc_auth_metadata_processor()> processor) {
    processor_ = std::move(processor);
  }

 private:
  // The caller owns the result.
  virtual grpc_server_credentials* Create() = 0;
  int AddPortToServer(const std::string& address, grpc_server* server) final;
  // Does nothing. Servers use SetProcessor instead, because this function of gRPC's C++ interface
  // would copy all headers of each call.
  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) final {}

  std::function<grpc_auth_metadata_processor()> processor_;
  grpc_server_credentials* credentials_ = nullptr;
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_SECURITY_TASK_CREDENTIALS_H_
