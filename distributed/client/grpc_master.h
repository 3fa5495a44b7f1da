// Runs the steps of a session on a server by calls of TensorFlow's MasterService over gRPC.
//
// Thread safety: one thread at a time may call Update, any thread the other methods.
#ifndef SLUICE_DISTRIBUTED_CLIENT_GRPC_MASTER_H_
#define SLUICE_DISTRIBUTED_CLIENT_GRPC_MASTER_H_

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "distributed/client/remote_session.h"
#include "distributed/proto/master.pb.h"
#include "distributed/rpc/rpc_client.h"
#include "executor/session/remote_master.h"
#include "graph/mutex.h"

namespace sluice {

class GrpcMaster final : public RemoteMaster {
 public:
  // Creates the session, with an empty graph.
  static absl::StatusOr<std::shared_ptr<GrpcMaster>> Connect(const std::string& target,
                                                             const RemoteSessionOptions& options);
  // Like Connect above, with an existing client.
  static absl::StatusOr<std::shared_ptr<GrpcMaster>> Connect(const std::string& target,
                                                             std::unique_ptr<RpcClient> client,
                                                             const RemoteSessionOptions& options);
  ~GrpcMaster() override;

  const std::string& target() const override { return target_; }
  absl::Status Update(const Graph& graph) override;
  absl::Status Run(const Names& names, absl::Span<const Tensor* const> feeds, Tensor* fetches,
                   const RunOptions& options, RunMetadata* metadata,
                   const std::string& partial_run) override;
  absl::StatusOr<std::string> SetUpPartialRun(const Names& names) override;
  absl::Status Close() override;

  absl::StatusOr<std::vector<DeviceInfo>> ListDevices();
  static absl::Status Reset(const std::string& target, const std::vector<std::string>& containers,
                            const Security& security);

 private:
  GrpcMaster(std::string target, std::unique_ptr<RpcClient> client);
  template <typename Request, typename Response>
  absl::Status Call(const char* method, const Request& request, Response* response,
                    int64_t timeout_ms = 0, bool wait_for_ready = false);
  // Runs a call to the master. Errors of the connection name the master.
  absl::StatusOr<grpc::ByteBuffer> Send(RpcClient::Call call);

  const std::string target_;
  const std::string address_;
  const std::unique_ptr<RpcClient> client_;
  std::string session_;
  int known_nodes_ = 0;        // used by Update only
  int64_t graph_version_ = 0;  // used by Update only
  Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  std::mt19937_64 random_ ABSL_GUARDED_BY(mutex_){std::random_device{}()};
};

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_CLIENT_GRPC_MASTER_H_
