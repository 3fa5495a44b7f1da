#include "distributed/collective/collective_service.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "distributed/message/respond.h"
#include "distributed/message/service_methods.h"
#include "distributed/message/tensor_message.h"
#include "distributed/message/tensor_response.h"
#include "graph/status.h"

namespace sluice {
namespace {

// Separates the parts of a message's key.
constexpr char kSeparator[] = "|";

TaskName LeaderOf(const ClusterSpec& spec, const TaskName& self) {
  const std::vector<TaskName> tasks = spec.tasks();
  for (const TaskName& wanted : {TaskName{"chief", 0}, TaskName{"worker", 0}}) {
    for (const TaskName& task : tasks) {
      if (task == wanted) return task;
    }
  }
  return tasks.empty() ? self : tasks[0];
}

// The ticket and step, for which DeviceAttributes has no fields, go into the description.
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

absl::StatusOr<GroupMember> MemberOf(const pb::CompleteGroupRequest& request) {
  SLUICE_ASSIGN_OR_RETURN(GroupMember member, MemberFromProto(request.device_attributes()));
  if (request.group_size() > 0) return member;
  return InvalidArgument("group_size must be positive integer but got ", request.group_size());
}

absl::StatusOr<CollectiveGroup> GroupOf(const absl::StatusOr<grpc::ByteBuffer>& bytes) {
  SLUICE_RETURN_IF_ERROR(bytes.status());
  pb::CompleteGroupResponse response;
  SLUICE_RETURN_IF_ERROR(DecodeMessage(*bytes, &response));
  CollectiveGroup group;
  if (!absl::SimpleAtoi(response.communicator_key(), &group.generation)) {
    return absl::InternalError("expected the number of a group, got none");
  }
  for (const pb::DeviceAttributes& device : response.device_attributes()) {
    SLUICE_ASSIGN_OR_RETURN(GroupMember member, MemberFromProto(device));
    group.members.push_back(std::move(member));
  }
  if (!group.members.empty()) return group;
  return absl::InternalError("expected the members of a group, got none");
}

grpc::ByteBuffer EncodeGroup(const pb::CompleteGroupRequest& request,
                             const CollectiveGroup& group) {
  pb::CompleteGroupResponse response;
  response.set_group_key(request.group_key());
  response.set_group_size(request.group_size());
  response.set_device_type(request.device_type());
  response.set_communicator_key(StrCat(group.generation));
  for (const GroupMember& member : group.members) {
    MemberToProto(member, response.add_device_attributes());
  }
  return EncodeMessage(response);
}

pb::RecvBufRequest RequestFor(const CollectiveMessage& message) {
  pb::RecvBufRequest request;
  request.set_step_id(static_cast<int64_t>(message.generation));
  request.set_buf_rendezvous_key(
      absl::StrJoin({StrCat(message.group_key), StrCat(message.from.ticket), message.round,
                     message.name, message.call},
                    kSeparator));
  request.set_src_device(message.from.device);
  request.set_src_incarnation(message.from.incarnation);
  return request;
}

absl::StatusOr<CollectiveMessage> MessageOf(const pb::RecvBufRequest& request) {
  CollectiveMessage message;
  const std::vector<std::string> parts =
      absl::StrSplit(request.buf_rendezvous_key(), absl::MaxSplits(kSeparator, 4));
  SLUICE_INVALID_IF(parts.size() != 5 || !absl::SimpleAtoi(parts[0], &message.group_key) ||
                        !absl::SimpleAtoi(parts[1], &message.from.ticket),
                    "expected the key of a collective's message, got '",
                    request.buf_rendezvous_key(), "'");
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
  return {Method(WorkerMethod("CompleteGroup"), this, &CollectiveService::CompleteGroup),
          Method(WorkerMethod("RecvBuf"), this, &CollectiveService::RecvBuf)};
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
  client_->Start({.address = *std::move(address),
                  .path = WorkerMethod("CompleteGroup"),
                  .request = EncodeMessage(request),
                  .cancellation = cancellation,
                  .wait_for_ready = true},  // the leader may start last
                 [leader = leader_.ToString(),
                  done = std::move(done)](const absl::StatusOr<grpc::ByteBuffer>& response) {
                   absl::StatusOr<CollectiveGroup> group = GroupOf(response);
                   if (!group.ok()) group = FromTask(leader, group.status());
                   done(std::move(group));
                 });
}

void CollectiveService::CompleteGroup(const pb::CompleteGroupRequest& request, RpcCall& call) {
  const absl::StatusOr<GroupMember> member = MemberOf(request);
  if (!member.ok()) return call.Finish(member.status());
  collectives_->table().Join(request.group_key(), request.group_size(), *member,
                             &call.cancellation(),
                             [&call, request](absl::StatusOr<CollectiveGroup> group) {
                               if (!group.ok()) return call.Finish(group.status());
                               call.Finish(EncodeGroup(request, *group));
                             });
}

void CollectiveService::Fetch(const CollectiveMessage& message, CancellationManager* cancellation,
                              Done done) {
  const std::string& device = message.from.device;
  const std::string task = device.substr(0, device.find("/device:"));
  const absl::StatusOr<TaskName> name = TaskName::Parse(task);
  if (!name.ok()) return done(name.status());
  absl::StatusOr<std::string> address = spec_.Address(*name);
  if (!address.ok()) return done(address.status());
  client_->Start({.address = *std::move(address),
                  .path = WorkerMethod("RecvBuf"),
                  .request = EncodeMessage(RequestFor(message)),
                  .cancellation = cancellation},
                 [task, done = std::move(done)](absl::StatusOr<grpc::ByteBuffer>& response) {
                   absl::StatusOr<TensorResponse> taken = TakeTensorResponse(task, response);
                   if (!taken.ok()) return done(taken.status());
                   done(std::move(taken->value));
                 });
}

void CollectiveService::RecvBuf(const pb::RecvBufRequest& request, RpcCall& call) {
  const absl::StatusOr<CollectiveMessage> message = MessageOf(request);
  if (!message.ok()) return call.Finish(message.status());
  collectives_->Serve(*message, &call.cancellation(), [&call](absl::StatusOr<Tensor> value) {
    if (!value.ok()) return call.Finish(value.status());
    call.Finish(EncodeTensorResponse(pb::RecvTensorResponse(), *std::move(value)));
  });
}

}  // namespace sluice
