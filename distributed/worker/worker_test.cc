// Tests a Worker without a server. The tests make the calls that a master would make.
#include "distributed/worker/worker.h"

#include "distributed/message/service_methods.h"
#include "distributed/message/tensor_message.h"
#include "distributed/testing/fake_call.h"
#include "executor/session/session.h"
#include "executor/testing/test_ops.h"
#include "graph/format/graph_def.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using namespace testing;  // NOLINT: the ops of test_ops.h

constexpr char kTask[] = "/job:worker/replica:0/task:0";

class WorkerTest : public ::testing::Test {
 protected:
  // The response to a call, which must succeed.
  grpc::ByteBuffer Call(const char* method, const google::protobuf::Message& request) {
    FakeCall call(EncodeMessage(request));
    for (const RpcMethod& m : worker_.Methods()) {
      if (m.path == WorkerMethod(method)) m.handle(call);
    }
    const absl::StatusOr<grpc::ByteBuffer> response = call.Await();
    EXPECT_TRUE(response.ok()) << method << ": " << response.status();
    return response.value_or(grpc::ByteBuffer());
  }
  void CreateSession(const std::string& session, int64_t master_incarnation) {
    pb::CreateWorkerSessionRequest create;
    create.set_session_handle(session);
    create.set_master_task("/job:chief/replica:0/task:0");
    create.set_master_incarnation(master_incarnation);
    Call("CreateWorkerSession", create);
  }
  // Registers a graph of one constant, and returns its handle.
  std::string Register(const std::string& session) {
    Graph g;
    Const(g, 1.0f);
    for (Node* node : g.nodes()) node->set_device(StrCat(kTask, "/device:CPU:0"));
    pb::RegisterGraphRequest graph;
    graph.set_session_handle(session);
    *graph.mutable_graph_def() = *ExportGraphDef(g);
    pb::RegisterGraphResponse registered;
    EXPECT_TRUE(DecodeMessage(Call("RegisterGraph", graph), &registered).ok());
    return registered.graph_handle();
  }
  void Run(const std::string& session, const std::string& graph, int64_t step) {
    pb::RunGraphRequest run;
    run.set_session_handle(session);
    run.set_graph_handle(graph);
    run.set_step_id(step);
    Call("RunGraph", run);
  }

  StepRendezvousTable rendezvous_{
      kTask, [](const std::string&, int64_t, const std::string&, CancellationManager*,
                Rendezvous::Done done) { done(absl::UnavailableError(""), Tensor(), false); }};
  AddressBook addresses_{ClusterSpec()};
  Worker worker_{kTask,
                 DeviceSet::Cpus(1, kTask),
                 &rendezvous_,
                 &addresses_,
                 [](std::shared_ptr<const AddressBook>) { return RemoteReceive(); },
                 SessionOptions()};
};

TEST_F(WorkerTest, CleanupGraphEndsAStep) {
  CreateSession("session", 1);
  Run("session", Register("session"), 7);
  EXPECT_EQ(rendezvous_.num_steps(), 1);
  pb::CleanupGraphRequest cleanup;
  cleanup.set_step_id(7);
  Call("CleanupGraph", cleanup);
  EXPECT_EQ(rendezvous_.num_steps(), 0);
}

// A feed of another type was read as strings, and an index addressed any memory.
TEST_F(WorkerTest, ChecksTheFeedsOfAPart) {
  Graph empty;
  const Session session(empty);  // so that the op _Arg is linked
  CreateSession("session", 1);
  const auto answer = [&](const char* method, grpc::ByteBuffer request) {
    FakeCall call(std::move(request));
    for (const RpcMethod& m : worker_.Methods()) {
      if (m.path == WorkerMethod(method)) m.handle(call);
    }
    return call.Await();
  };
  pb::RegisterGraphRequest graph;
  graph.set_session_handle("session");
  pb::NodeDef* arg = graph.mutable_graph_def()->add_node();
  arg->set_name("fed");
  arg->set_op("_Arg");
  arg->set_device(StrCat(kTask, "/device:CPU:0"));
  (*arg->mutable_attr())["T"].set_type(pb::DT_STRING);
  for (const int64_t index : {int64_t{-1}, int64_t{1}, int64_t{1} << 40, int64_t{0}}) {
    (*arg->mutable_attr())["index"].set_i(index);
    EXPECT_EQ(answer("RegisterGraph", EncodeMessage(graph)).ok(), index == 0) << index;
  }
  pb::RegisterGraphResponse registered;
  ASSERT_TRUE(DecodeMessage(Call("RegisterGraph", graph), &registered).ok());
  pb::RunGraphRequest run;
  run.set_session_handle("session");
  run.set_graph_handle(registered.graph_handle());
  run.set_step_id(5);
  const TensorField send = {pb::RunGraphRequest::kSendFieldNumber, TensorField::kNamed};
  const auto request = EncodeMessage(run, send, {{{"", Tensor::Scalar(1.0f)}}});
  ASSERT_TRUE(request.ok()) << request.status();
  EXPECT_TRUE(absl::IsInvalidArgument(answer("RunGraph", *request).status()));
}

// The steps stayed for ever if their master died before CleanupGraph.
TEST_F(WorkerTest, TheStepsOfAMasterEndWithItsSession) {
  CreateSession("first", 1);
  const std::string graph = Register("first");
  for (const int64_t step : {1, 2, 3}) Run("first", graph, step);
  EXPECT_EQ(rendezvous_.num_steps(), 3);
  CreateSession("second", 2);  // the master has restarted
  EXPECT_EQ(rendezvous_.num_steps(), 0);
}

}  // namespace
}  // namespace sluice
