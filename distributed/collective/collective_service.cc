#include "distributed/collective/collective_service.h"

#include <cinttypes>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "distributed/proto/worker.pb.h"
#include "distributed/wire/one_tensor.h"
#include "distributed/wire/tensor_message.h"
#include "distributed/wire/worker_method.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Between the parts of a message's key.
constexpr char kBetween = '|';

TaskName LeaderOf(const ClusterSpec& spec, const TaskName& self) {
  const std::vector<TaskName> tasks = spec.tasks();
  for (const TaskName& wanted : {TaskName{"chief", 0}, TaskName{"worker", 0}}) {
    for (const TaskName& task : tasks) {
      if (task == wanted) return task;
    }
  }
  return tasks.empty() ? self : tasks[0];
}

// What DeviceAttributes has no field for stands in the description.
void MemberToProto(const GroupMember& member, pb::DeviceAttributes* proto) {
  proto->set_name(member.device);
  proto->set_device_type("CPU");
  proto->set_incarnation(member.incarnation);
  proto->set_physical_device_desc(StrCat(member.ticket, " ", member.step));
}

absl::StatusOr<GroupMember> MemberFromProto(const pb::DeviceAttributes& proto) {
  GroupMember member{proto.name(), proto.incarnation()};
  const std::vector<std::string> parts = absl::StrSplit(proto.physical_device_desc(), ' ');
  if (parts.size() == 2 && absl::SimpleAtoi(parts[0], &member.ticket) &&
      absl::SimpleAtoi(parts[1], &member.step)) {
    return member;
  }
  return InvalidArgument("expected a member's ticket and step, got '", proto.physical_device_desc(),
                         "'");
}

absl::StatusOr<CollectiveMessage> MessageOf(const pb::RecvBufRequest& request) {
  CollectiveMessage message;
  const std::vector<std::string> parts =
      absl::StrSplit(request.buf_rendezvous_key(), absl::MaxSplits(kBetween, 4));
  if (parts.size() != 5 || !absl::SimpleAtoi(parts[0], &message.group_key) ||
      !absl::SimpleAtoi(parts[1], &message.from.ticket)) {
    return InvalidArgument("expected the key of a collective's message, got '",
                           request.buf_rendezvous_key(), "'");
  }
  message.generation = static_cast<uint64_t>(request.step_id());
  message.from.device = request.src_device();
  message.from.incarnation = request.src_incarnation();
  message.round = parts[2];
  message.name = parts[3];
  message.call = parts[4];
  return message;
}

}  // namespace

CollectiveService::CollectiveService(const Cluster& cluster, RpcClient* client,
                                     std::shared_ptr<Collectives> collectives)
    : spec_(cluster.spec),
      self_(cluster.task),
      leader_(LeaderOf(cluster.spec, cluster.task)),
      client_(client),
      collectives_(std::move(collectives)) {
  collectives_->set_network(this);
}

std::vector<RpcMethod> CollectiveService::Methods() {
  return {{WorkerMethod("CompleteGroup"), [this](RpcCall& call) { CompleteGroup(call); }},
          {WorkerMethod("RecvBuf"), [this](RpcCall& call) { RecvBuf(call); }}};
}

void CollectiveService::Stop() {
  collectives_->Stop(absl::CancelledError(StrCat("the server of ", self_.ToString(), " stops")));
}

void CollectiveService::Join(int key, int size, const GroupMember& member,
                             CancellationManager* cancellation, GroupTable::Done done) {
  if (leader_ == self_) {
    return collectives_->table().Join(key, size, member, cancellation, std::move(done));
  }
  absl::StatusOr<std::string> address = spec_.Address(leader_);
  if (!address.ok()) return done(address.status());
  pb::CompleteGroupRequest request;
  request.set_group_key(key);
  request.set_group_size(size);
  request.set_device_type("CPU");
  MemberToProto(member, request.mutable_device_attributes());
  RpcClient::Call call;
  call.address = *std::move(address);
  call.path = WorkerMethod("CompleteGroup");
  call.request = EncodeMessage(request);
  call.cancellation = cancellation;
  call.wait_for_ready = true;  // the leader may start last
  client_->Start(std::move(call), [leader = leader_.ToString(), done = std::move(done)](
                                      absl::Status status, grpc::ByteBuffer bytes) {
    pb::CompleteGroupResponse response;
    if (status.ok()) status = DecodeMessage(bytes, &response);
    CollectiveGroup group;
    if (status.ok() && !absl::SimpleAtoi(response.communicator_key(), &group.generation)) {
      status = absl::InternalError("expected the number of a group, got none");
    }
    for (const pb::DeviceAttributes& device : response.device_attributes()) {
      absl::StatusOr<GroupMember> member_of = MemberFromProto(device);
      status.Update(member_of.status());
      if (member_of.ok()) group.members.push_back(*std::move(member_of));
    }
    if (status.ok() && group.members.empty()) {
      status = absl::InternalError("expected the members of a group, got none");
    }
    if (!status.ok()) return done(FromTask(leader, status));
    done(std::move(group));
  });
}

void CollectiveService::CompleteGroup(RpcCall& call) {
  pb::CompleteGroupRequest request;
  absl::Status status = DecodeMessage(call.request(), &request);
  absl::StatusOr<GroupMember> member = GroupMember();
  if (status.ok()) {
    member = MemberFromProto(request.device_attributes());
    status = member.status();
  }
  if (status.ok() && request.group_size() <= 0) {
    status = InvalidArgument("group_size must be positive integer but got ", request.group_size());
  }
  if (!status.ok()) return call.Finish(status, grpc::ByteBuffer());
  collectives_->table().Join(request.group_key(), request.group_size(), *member,
                             &call.cancellation(),
                             [&call, request](absl::StatusOr<CollectiveGroup> group) {
                               pb::CompleteGroupResponse response;
                               if (!group.ok())
                                 return call.Finish(group.status(), grpc::ByteBuffer());
                               response.set_group_key(request.group_key());
                               response.set_group_size(request.group_size());
                               response.set_device_type(request.device_type());
                               response.set_communicator_key(StrCat(group->generation));
                               for (const GroupMember& m : group->members) {
                                 MemberToProto(m, response.add_device_attributes());
                               }
                               call.Finish(absl::OkStatus(), EncodeMessage(response));
                             });
}

void CollectiveService::Fetch(const CollectiveMessage& message, CancellationManager* cancellation,
                              Done done) {
  const std::string device = message.from.device;
  const std::string task = device.substr(0, device.find("/device:"));
  absl::StatusOr<TaskName> name = TaskName::Parse(task);
  absl::StatusOr<std::string> address =
      name.ok() ? spec_.Address(*name) : absl::StatusOr<std::string>(name.status());
  if (!address.ok()) return done(address.status());
  pb::RecvBufRequest request;
  request.set_step_id(static_cast<int64_t>(message.generation));
  const std::string between(1, kBetween);
  request.set_buf_rendezvous_key(StrCat(message.group_key, between, message.from.ticket, between,
                                        message.round, between, message.name, between,
                                        message.call));
  request.set_src_device(device);
  request.set_src_incarnation(message.from.incarnation);
  RpcClient::Call call;
  call.address = *std::move(address);
  call.path = WorkerMethod("RecvBuf");
  call.request = EncodeMessage(request);
  call.cancellation = cancellation;
  client_->Start(std::move(call),
                 [task, done = std::move(done)](absl::Status status, grpc::ByteBuffer& bytes) {
                   absl::StatusOr<OneTensor> taken = TakeOneTensor(task, status, &bytes);
                   if (!taken.ok()) return done(taken.status());
                   done(std::move(taken->value));
                 });
}

void CollectiveService::RecvBuf(RpcCall& call) {
  pb::RecvBufRequest request;
  absl::Status status = DecodeMessage(call.request(), &request);
  absl::StatusOr<CollectiveMessage> message = CollectiveMessage();
  if (status.ok()) {
    message = MessageOf(request);
    status = message.status();
  }
  if (!status.ok()) return call.Finish(status, grpc::ByteBuffer());
  collectives_->Serve(*message, &call.cancellation(), [&call](absl::StatusOr<Tensor> value) {
    absl::StatusOr<grpc::ByteBuffer> bytes = grpc::ByteBuffer();
    if (value.ok()) bytes = EncodeOneTensor(pb::RecvTensorResponse(), *std::move(value));
    const absl::Status ended = value.ok() ? bytes.status() : value.status();
    call.Finish(ended, ended.ok() ? *bytes : grpc::ByteBuffer());
  });
}

}  // namespace sluice
