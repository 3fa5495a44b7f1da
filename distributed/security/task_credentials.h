// The credentials of a task's server. They also show the server each call when its headers arrive.
#ifndef SLUICE_DISTRIBUTED_SECURITY_TASK_CREDENTIALS_H_
#define SLUICE_DISTRIBUTED_SECURITY_TASK_CREDENTIALS_H_

#include <memory>
#include <string>

#include "grpc/grpc_security.h"
#include "grpcpp/security/server_credentials.h"

namespace sluice {

// For one server, which they must outlive. Made by ServerCredentials (security.h).
class TaskCredentials : public grpc::ServerCredentials {
 public:
  ~TaskCredentials() override;
  // gRPC passes the headers of each call to `processor` before it hands the call to the server.
  // Must be called before the server starts. `processor.state` must outlive the server.
  void SetProcessor(const grpc_auth_metadata_processor& processor) { processor_ = processor; }

 private:
  // The caller owns the result.
  virtual grpc_server_credentials* Create() = 0;
  int AddPortToServer(const std::string& address, grpc_server* server) final;
  // gRPC's C++ interface copies all headers of each call, so servers use SetProcessor.
  void SetAuthMetadataProcessor(const std::shared_ptr<grpc::AuthMetadataProcessor>&) final {}

  grpc_auth_metadata_processor processor_ = {};
  grpc_server_credentials* credentials_ = nullptr;
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_SECURITY_TASK_CREDENTIALS_H_
