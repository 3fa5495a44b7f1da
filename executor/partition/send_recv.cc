// Send and Recv: the two ends of an edge between nodes of different tasks. The partitioner and the
// session insert them as _Send and _Recv, for which there are no builders. The versions for users
// are declared in ops/dataflow.
#include <string>
#include <utility>

#include "executor/kernel/context.h"
#include "executor/kernel/kernel.h"
#include "executor/wait/cancellation.h"
#include "executor/wait/rendezvous.h"
#include "executor/wait/stalls.h"
#include "graph/build/device_spec.h"
#include "graph/infer/shape_context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"

namespace sluice {
namespace {

#define SLUICE_SEND_OP(name)                                                            \
  OP(name, "Puts a tensor into the step's rendezvous, for the Recv with the same key.") \
      .Input("tensor", "T")                                                             \
      .Attr("T", TypeAttr())                                                            \
      .Attr("tensor_name", StringAttr())                                                \
      .Attr("send_device", StringAttr())                                                \
      .Attr("send_device_incarnation", IntAttr())                                       \
      .Attr("recv_device", StringAttr())                                                \
      .Attr("client_terminated", BoolAttr(false))                                       \
      .Stateful()                                                                       \
      .Role(OpRole::kSend)                                                              \
      .RunsWhenDead()                                                                   \
      .Hidden()                                                                         \
      .Shape(NoOutputs())
SLUICE_SEND_OP(_Send);
SLUICE_SEND_OP(_HostSend);

#define SLUICE_RECV_OP(name)                                                          \
  OP(name, "Waits for the tensor that the Send of its key leaves in the rendezvous.") \
      .Output("tensor", "tensor_type")                                                \
      .Attr("tensor_type", TypeAttr())                                                \
      .Attr("tensor_name", StringAttr())                                              \
      .Attr("send_device", StringAttr())                                              \
      .Attr("send_device_incarnation", IntAttr())                                     \
      .Attr("recv_device", StringAttr())                                              \
      .Attr("client_terminated", BoolAttr(false))                                     \
      .Stateful()                                                                     \
      .DistributedCommunication()                                                     \
      .Role(OpRole::kReceive)                                                         \
      .RunsWhenDead()                                                                 \
      .Hidden()                                                                       \
      .Shape(UnknownOutputs())
SLUICE_RECV_OP(_Recv);
SLUICE_RECV_OP(_HostRecv);

// Makes the rendezvous keys of a node. A node outside of loops has one key, which is made once.
class KeyOf {
 public:
  explicit KeyOf(const KernelInit& init)
      : key_{init.attr<std::string>("send_device"),
             static_cast<uint64_t>(init.attr<int64_t>("send_device_incarnation")),
             init.attr<std::string>("recv_device"), init.attr<std::string>("tensor_name")},
        outside_loops_(key_.ToString()) {
    if (init.node().traits().runs_when_dead) return;  // inserted by the runtime
    for (const std::string& device : {key_.src_device, key_.dst_device}) {
      const absl::StatusOr<DeviceSpec> spec = DeviceSpec::Parse(device);
      if (spec.ok() && spec->job && spec->replica && spec->task && spec->type && spec->id) continue;
      status_ = InvalidArgument("Invalid  rendezvous key: ", outside_loops_);
    }
  }

  // INVALID_ARGUMENT unless both devices have full names, which user nodes may lack.
  const absl::Status& status() const { return status_; }

  std::string At(const KernelContext& c) const {
    if (c.frame_id == 0 && c.iteration == 0) return outside_loops_;
    RendezvousKey key = key_;
    key.frame_id = c.frame_id;
    key.iteration = c.iteration;
    return key.ToString();
  }
  const RendezvousKey& parts() const { return key_; }

 private:
  const RendezvousKey key_;
  const std::string outside_loops_;
  absl::Status status_;
};

absl::Status NoRendezvous(const KernelContext& c) {
  return absl::InternalError(StrCat(c.node().Describe(), ": the step has no rendezvous"));
}

class SendKernel final : public Kernel {
 public:
  explicit SendKernel(KernelInit& init)
      : key_(init), to_client_(init.AttrOr<bool>("client_terminated", false)) {}
  absl::Status Compute(KernelContext& c) override {
    Rendezvous* rendezvous = c.step().rendezvous;
    if (rendezvous == nullptr) return NoRendezvous(c);
    SLUICE_RETURN_IF_ERROR(key_.status());
    if (c.is_input_dead) return rendezvous->Send(key_.At(c), Tensor(), /*is_dead=*/true);
    if (!to_client_) return rendezvous->Send(key_.At(c), c.input(0), /*is_dead=*/false);
    // A copy, because the client's tensor must not change with a variable.
    SLUICE_ASSIGN_OR_RETURN(Tensor copy, c.input(0).Clone(*c.step().allocator));
    return rendezvous->Send(key_.At(c), std::move(copy), /*is_dead=*/false);
  }
  bool IsExpensive() const override { return false; }

 private:
  const KeyOf key_;
  const bool to_client_;
};
KERNEL(_Send, SendKernel);
KERNEL(_HostSend, SendKernel);
KERNEL(Send, SendKernel);

class RecvKernel final : public AsyncKernel {
 public:
  explicit RecvKernel(KernelInit& init) : key_(init) {}
  void ComputeAsync(KernelContext& c, Done done) override {
    Rendezvous* rendezvous = c.step().rendezvous;
    if (rendezvous == nullptr) return done(NoRendezvous(c));
    if (!key_.status().ok()) return done(key_.status());
    Stalls* stalls = c.step().stalls;
    const Stalls::Entry entry =
        stalls == nullptr ? 0
                          : stalls->Open({.step_id = c.step().step_id,
                                          .node = c.name(),
                                          .op = c.node().op(),
                                          .resource = StrCat("tensor '", key_.parts().tensor_name,
                                                             "' from ", key_.parts().src_device)});
    rendezvous->RecvAsync(key_.At(c), c.step().cancellation,
                          [&c, stalls, entry, done = std::move(done)](absl::Status status,
                                                                      Tensor value, bool is_dead) {
                            if (stalls != nullptr) stalls->Close(entry);
                            if (status.ok() && is_dead) {
                              c.set_output_dead(0);
                            } else if (status.ok()) {
                              c.set_output(0, std::move(value));
                            }
                            done(std::move(status));
                          });
  }

 private:
  const KeyOf key_;
};
KERNEL(_Recv, RecvKernel);
KERNEL(_HostRecv, RecvKernel);
KERNEL(Recv, RecvKernel);

}  // namespace
}  // namespace sluice
