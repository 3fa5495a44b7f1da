// Collective ops of a task while a peer sends arbitrary requests and answers. Each call must get a
// result or an error, at the latest when the task stops.
//
// An input is a list of actions: one byte for the kind, then its choices. Messages begin with one
// byte for their length.
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "distributed/collective/collective_service.h"
#include "distributed/message/service_methods.h"
#include "distributed/message/tensor_message.h"
#include "distributed/message/tensor_response.h"
#include "distributed/testing/loopback.h"
#include "google/protobuf/stubs/logging.h"
#include "graph/strings.h"
#include "tests/fuzz/fuzz_call.h"
#include "tests/fuzz/made_graph.h"

namespace sluice {
namespace {

constexpr size_t kMaxActions = 64;
constexpr char kPeer[] = "/job:worker/replica:0/task:1/device:CPU:0";

class Task {
 public:
  explicit Task(ByteReader& bytes) : bytes_(bytes) {
    ClusterSpec spec;
    for (int i = 0; i < 2; ++i) spec.SetAddress({"worker", i}, StrCat("worker:", i));
    const TaskName name = {"worker", 0};  // the leader
    device_ = name.ToString() + "/device:CPU:0";
    collectives_ = std::make_shared<Collectives>(std::map<std::string, uint64_t>{{device_, 1}});
    service_ = std::make_unique<CollectiveService>(Cluster{spec, name}, &loopback_, collectives_);
    loopback_.Serve("worker:1", {{WorkerMethod("RecvBuf"), [this](RpcCall& c) { Answer(c); }}});
  }
  ~Task() {
    service_->Stop();
    for (const auto& call : calls_) {
      call->cancellation().StartCancel();
      if (!call->response()) std::abort();  // never finished
    }
    if (ended_ != started_) std::abort();  // a collective op that never ends, or ends twice
  }

  void Act() {
    switch (bytes_.Below(6)) {
      case 0:
        return StartOp();
      case 1:
        return JoinGroup();
      case 2:
        return RequestTensor();
      case 3:
        return Call("CompleteGroup", Message());
      case 4:
        return Call("RecvBuf", Message());
      default:
        answer_ = bytes_.Byte() % 2 == 0 ? std::string(Message()) : "";
    }
  }

 private:
  std::string_view Message() { return bytes_.Take(bytes_.Byte()); }
  int Key() { return static_cast<int>(bytes_.Below(2)); }

  // A tensor of zeros. Ops merge numbers only, but the peer may send anything.
  Tensor Value(bool is_number) {
    const DataType types[] = {DT_FLOAT, DT_INT32, DT_DOUBLE, DT_HALF, DT_BOOL, DT_STRING};
    TensorShape shape;
    for (size_t rank = bytes_.Below(3); rank > 0; --rank) {
      shape.AddDim(static_cast<int64_t>(bytes_.Below(4)));
    }
    Tensor value(types[bytes_.Below(is_number ? 4 : 6)], shape);
    std::fill_n(static_cast<char*>(value.raw()), value.bytes(), char{0});
    return value;
  }

  // Plays the peer: answers a request for one of its tensors.
  void Answer(RpcCall& call) {
    if (!answer_.empty()) return call.Finish(BytesOf(answer_));
    const uint8_t kind = bytes_.Byte();
    if (kind % 4 == 0) return call.Finish(absl::UnavailableError("the peer fails"));
    call.Finish(EncodeTensorResponse(pb::RecvTensorResponse(), Value(false)));
  }

  void StartOp() {
    CollectiveCall call;
    call.kind = static_cast<CollectiveKind>(bytes_.Below(3));
    call.group_key = Key();
    call.group_size = 1 + static_cast<int>(bytes_.Below(3));
    call.instance_key = Key();
    call.device = device_;
    call.node = "n";
    call.op = "Collective";
    call.step_id = static_cast<int64_t>(bytes_.Below(3));
    call.algorithm = static_cast<CollectiveAlgorithm>(bytes_.Below(3));
    call.merge = static_cast<MergeOp>(bytes_.Below(4));
    call.is_source = bytes_.Byte() % 2 == 0;
    const Tensor value = Value(true);
    call.dtype = value.dtype();
    call.shape = value.shape();
    if (call.kind != CollectiveKind::kBroadcast || call.is_source) call.input = value;
    call.done = [this](const absl::StatusOr<Tensor>&) { ++ended_; };
    ++started_;
    collectives_->Start(std::move(call));
  }

  // A member of the peer asks for its group.
  void JoinGroup() {
    pb::CompleteGroupRequest request;
    request.set_group_key(Key());
    request.set_group_size(1 + static_cast<int>(bytes_.Below(3)));
    request.set_device_type("CPU");
    pb::DeviceAttributes* member = request.mutable_device_attributes();
    member->set_name(bytes_.Byte() % 8 == 0 ? device_ : kPeer);
    member->set_incarnation(bytes_.Below(3));
    member->set_physical_device_desc(StrCat(bytes_.Below(3), " ", bytes_.Int()));
    Call("CompleteGroup", request.SerializeAsString());
  }

  // The peer asks for a tensor of this task.
  void RequestTensor() {
    pb::RecvBufRequest request;
    request.set_step_id(static_cast<int64_t>(bytes_.Below(3)));
    const std::string round = StrCat(bytes_.Below(3), bytes_.Byte() % 2 == 0 ? "" : "/0");
    request.set_buf_rendezvous_key(
        StrCat(Key(), "|", bytes_.Below(3), "|", round, "|", Message(), "|", Message()));
    request.set_src_device(bytes_.Byte() % 8 == 0 ? kPeer : device_);
    request.set_src_incarnation(bytes_.Below(3));
    Call("RecvBuf", request.SerializeAsString());
  }

  void Call(const char* method, std::string_view message) {
    calls_.push_back(std::make_unique<FuzzCall>(message));
    for (const RpcMethod& served : service_->Methods()) {
      if (served.path == WorkerMethod(method)) served.handle(*calls_.back());
    }
  }

  ByteReader& bytes_;
  Loopback loopback_;
  std::string device_;
  std::shared_ptr<Collectives> collectives_;
  std::unique_ptr<CollectiveService> service_;
  std::vector<std::unique_ptr<FuzzCall>> calls_;
  std::string answer_;  // of the peer; if empty, Answer makes one
  int started_ = 0;
  int ended_ = 0;
};

}  // namespace
}  // namespace sluice

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool is_quiet = [] {
    google::protobuf::SetLogHandler(nullptr);  // its errors are returned as a status
    return true;
  }();
  static_cast<void>(is_quiet);
  sluice::ByteReader bytes({reinterpret_cast<const char*>(data), size});
  sluice::Task task(bytes);
  for (size_t i = 0; i < sluice::kMaxActions && !bytes.empty(); ++i) task.Act();
  return 0;
}
