// Ops Send and Recv: the two ends of an edge between devices, in graphs that are partitioned by
// hand. In other graphs, the partitioner inserts the ops _Send and _Recv.
#include "graph/op/mixins.h"
#include "ops/op.h"

namespace sluice {
namespace {

void TransferAttrs(OpDefBuilder& op) {
  op.With(Attrs({"tensor_name", "send_device"}, StringAttr()))
      .Attr("send_device_incarnation", IntAttr())
      .Attr("recv_device", StringAttr())
      .Attr("client_terminated", BoolAttr(false))
      .Stateful();
}

OP(Send,
   "Stores a tensor in the step's rendezvous, for the Recv with the same name, devices and "
   "incarnation.")
    .Input("tensor", "T")
    .Attr("T", TypeAttr())
    .With(TransferAttrs)
    .Role(OpRole::kSend)
    .Shape(NoOutputs());

OP(Recv, "Waits in the step's rendezvous for the tensor of the Send with the same attributes.")
    .Output("tensor", "tensor_type")
    .Attr("tensor_type", TypeAttr())
    .With(TransferAttrs)
    .DistributedCommunication()
    .Role(OpRole::kReceive)
    .Shape(UnknownOutputs());

}  // namespace
}  // namespace sluice
