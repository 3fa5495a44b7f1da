// The two ends of an edge that a graph cuts by itself: what the partitioner does with _Send and
// _Recv, for those who place their graphs by hand.

#include "ops/op.h"

namespace sluice {
namespace {

OP(Send,
   "Leaves a tensor in the step's rendezvous, where the Recv with the same name, devices and "
   "incarnation finds it.")
    .Input("tensor", "T")
    .Attr("T", TypeAttr())
    .Attr("tensor_name", StringAttr())
    .Attr("send_device", StringAttr())
    .Attr("send_device_incarnation", IntAttr())
    .Attr("recv_device", StringAttr())
    .Attr("client_terminated", BoolAttr(false))
    .Stateful()
    .Shape(NoOutputs());

OP(Recv, "Waits in the step's rendezvous for the tensor of the Send with the same attributes.")
    .Output("tensor", "tensor_type")
    .Attr("tensor_type", TypeAttr())
    .Attr("tensor_name", StringAttr())
    .Attr("send_device", StringAttr())
    .Attr("send_device_incarnation", IntAttr())
    .Attr("recv_device", StringAttr())
    .Attr("client_terminated", BoolAttr(false))
    .Stateful()
    .DistributedCommunication()
    .Shape(UnknownOutputs());

}  // namespace
}  // namespace sluice
