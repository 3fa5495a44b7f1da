#include "distributed/master/session_config.h"

#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;

TEST(SessionConfig, TheClientsSettingsReplaceTheServers) {
  pb::ConfigProto config;
  config.set_allow_soft_placement(true);
  config.set_operation_timeout_in_ms(70);
  config.set_intra_op_parallelism_threads(1);
  const SessionOptions options = WithConfig({.intra_op_threads = 3, .inter_op_threads = 2}, config);
  EXPECT_TRUE(options.allow_soft_placement);
  EXPECT_EQ(options.operation_timeout_ms, 70);
  EXPECT_EQ(options.intra_op_threads, 1);
  EXPECT_EQ(options.inter_op_threads, 2);  // not set by the client
  EXPECT_THAT(options.disabled_passes, ElementsAre());
}

TEST(SessionConfig, AClientGetsAtMostOneThreadPerCore) {
  pb::ConfigProto config;
  config.set_intra_op_parallelism_threads(1'000'000);
  config.set_inter_op_parallelism_threads(1'000'000);
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  EXPECT_EQ(WithConfig({}, config).intra_op_threads, cores);
  EXPECT_EQ(WithConfig({}, config).inter_op_threads, cores);
}

TEST(SessionConfig, OptimizerLevel0DisablesAllPasses) {
  pb::ConfigProto config;
  config.mutable_graph_options()->mutable_optimizer_options()->set_opt_level(
      pb::OptimizerOptions::L0);
  EXPECT_THAT(WithConfig({}, config).disabled_passes, ElementsAre("all"));
}

TEST(JobName, HasTheHandleAndTheClientsName) {
  pb::ConfigProto config;
  EXPECT_EQ(JobName(config, "17"), "session 17");
  config.mutable_experimental()->mutable_session_metadata()->set_name("mnist");
  EXPECT_EQ(JobName(config, "17"), "job 'mnist' (session 17)");
}

}  // namespace
}  // namespace sluice
