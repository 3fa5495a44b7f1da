// Tests servers with TLS, mutual TLS and tokens. The tests create certificates with openssl.

#include <cstdlib>
#include <filesystem>

#include "distributed/client/remote_session.h"
#include "distributed/server/server.h"
#include "distributed/testing/free_port.h"
#include "executor/testing/test_ops.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using namespace testing;  // NOLINT: the ops of test_ops.h
using ::testing::HasSubstr;

// Creates a self-signed certificate for the name "tasks".
Security MakeIdentity(const std::string& name) {
  const std::string base = ::testing::TempDir() + "/" + name;
  const std::string command =
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
      "-subj /CN=tasks -addext subjectAltName=DNS:tasks -keyout " +
      base + ".key -out " + base + ".pem 2>/dev/null";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  Security security;
  security.ca_file = base + ".pem";
  security.cert_file = base + ".pem";
  security.key_file = base + ".key";
  security.server_name = "tasks";
  return security;
}
// Checks the certificates of servers, and has none itself.
Security OnlyTrusts(Security security) {
  security.cert_file.clear();
  security.key_file.clear();
  return security;
}
// Has a certificate, and requires none from clients.
Security OnlyShows(Security security) {
  security.ca_file.clear();
  return security;
}

absl::Status AddOn(const Server& server, const Security& security) {
  Graph g;
  const Output sum = Add(Const(g, 1), Const(g, 2));
  SLUICE_ASSIGN_OR_RETURN(
      auto session, RemoteSession::Connect(g, server.target(),
                                           {.connect_timeout_ms = 1000, .security = security}));
  SLUICE_ASSIGN_OR_RETURN(const Tensors out, session->Run({}, {sum}));
  EXPECT_EQ(out[0].scalar<float>(), 3);
  return absl::OkStatus();
}

TEST(Security, TlsKeepsOutWhoDoesNotSpeakItOrTrustsAnother) {
  const Security tasks = MakeIdentity("a");
  auto server = Server::Start({.port = 0, .security = OnlyShows(tasks)});
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_TRUE(AddOn(**server, OnlyTrusts(tasks)).ok()) << AddOn(**server, OnlyTrusts(tasks));
  EXPECT_EQ(AddOn(**server, {}).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(AddOn(**server, OnlyTrusts(MakeIdentity("b"))).code(), absl::StatusCode::kUnavailable);
}

TEST(Security, MutualTlsKeepsOutClientsWithoutACertificate) {
  const Security tasks = MakeIdentity("c");
  auto server = Server::Start({.port = 0, .security = tasks});
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_TRUE(AddOn(**server, tasks).ok());
  EXPECT_EQ(AddOn(**server, OnlyTrusts(tasks)).code(), absl::StatusCode::kUnavailable);
  Security stranger = MakeIdentity("d");
  stranger.ca_file = tasks.ca_file;
  EXPECT_EQ(AddOn(**server, stranger).code(), absl::StatusCode::kUnavailable);
}

TEST(Security, CallsWithoutTheTokenAreRefused) {
  Security known;
  known.token = "open sesame";
  auto server = Server::Start({.port = 0, .security = known});
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_TRUE(AddOn(**server, known).ok());
  const absl::Status none = AddOn(**server, {});
  EXPECT_EQ(none.code(), absl::StatusCode::kUnauthenticated);
  EXPECT_EQ(none.message(), "the call has not this cluster's token");
  known.token = "open barley";
  EXPECT_EQ(AddOn(**server, known).code(), absl::StatusCode::kUnauthenticated);
}

TEST(Security, ATokenCanBeReplaced) {
  Security known;
  known.token = "old word";
  auto server = Server::Start({.port = 0, .security = known});
  ASSERT_TRUE(server.ok()) << server.status();
  ReplaceToken("old word", "new word");
  // Clients of this process send the new token.
  EXPECT_TRUE(AddOn(**server, known).ok());
  known.token = "new word";
  EXPECT_TRUE(AddOn(**server, known).ok());
  ReplaceToken("old word", "newer word");
  EXPECT_EQ(AddOn(**server, known).code(), absl::StatusCode::kUnauthenticated);
}

TEST(Security, CertificatesAreReadAgain) {
  const Security first = MakeIdentity("g"), second = MakeIdentity("h");
  Security former = OnlyTrusts(first);
  former.ca_file = first.cert_file + ".old";
  const auto copy = [](const std::string& from, const std::string& to) {
    std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing);
  };
  copy(first.cert_file, former.ca_file);
  auto server = Server::Start({.port = 0, .security = OnlyShows(first)});
  ASSERT_TRUE(server.ok()) << server.status();
  copy(second.cert_file, first.cert_file);
  copy(second.key_file, first.key_file);
  EXPECT_TRUE(AddOn(**server, former).ok());  // the files were not read again yet
  ReloadCertificates();
  EXPECT_TRUE(AddOn(**server, OnlyTrusts(second)).ok());
  EXPECT_EQ(AddOn(**server, former).code(), absl::StatusCode::kUnavailable);
  // A file that is missing leaves the certificate as it is.
  std::filesystem::remove(first.cert_file);
  ReloadCertificates();
  EXPECT_TRUE(AddOn(**server, OnlyTrusts(second)).ok());
}

TEST(Security, TasksOfAClusterKnowEachOther) {
  Security tasks = MakeIdentity("e");
  tasks.token = "open sesame";
  ClusterSpec spec;
  for (const TaskName& task : {TaskName{"ps", 0}, TaskName{"worker", 0}}) {
    spec.SetAddress(task, "127.0.0.1:" + std::to_string(FreePort()));
  }
  auto ps = Server::Start({.cluster = {spec, {"ps", 0}}, .security = tasks});
  auto worker = Server::Start({.cluster = {spec, {"worker", 0}}, .security = tasks});
  ASSERT_TRUE(ps.ok() && worker.ok()) << ps.status() << worker.status();
  Graph g;
  Output there;
  {
    DeviceScope on_ps(g, "/job:ps/task:0");
    there = Add(Const(g, 1), Const(g, 2));
  }
  DeviceScope on_worker(g, "/job:worker/task:0");
  const Output here = Add(there, there);
  auto session = RemoteSession::Connect(g, (*worker)->target(), {.security = tasks});
  ASSERT_TRUE(session.ok()) << session.status();
  const auto out = (*session)->Run({}, {here});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ((*out)[0].scalar<float>(), 6);
}

TEST(Security, AnAddressThatOthersReachNeedsTlsOrTheFlag) {
  const auto refused = Server::Start({.bind = "0.0.0.0", .port = 0});
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("without TLS"));
  EXPECT_TRUE(Server::Start({.bind = "0.0.0.0", .port = 0, .insecure = true}).ok());
}

// TLS alone hides the traffic, but lets every client use the machine.
TEST(Security, TlsThatChecksNoClientNeedsATokenOrTheFlag) {
  const Security tasks = MakeIdentity("f");
  ServerOptions options = {.bind = "0.0.0.0", .port = 0, .security = OnlyShows(tasks)};
  const absl::Status refused = Server::Start(options).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("without client certificates or a token"));
  options.insecure = true;
  EXPECT_TRUE(Server::Start(options).ok());
  options.insecure = false;
  options.security.token = "open sesame";
  EXPECT_TRUE(Server::Start(options).ok());
  options.security = tasks;
  EXPECT_TRUE(Server::Start(options).ok());
}

TEST(Security, MetricsAreOnThisHostUnlessAnAddressIsGiven) {
  const Security tasks = MakeIdentity("m");
  ServerOptions options = {.bind = "0.0.0.0", .port = 0, .security = tasks, .metrics_port = 0};
  EXPECT_TRUE(Server::Start(options).ok());
  options.metrics_bind = "0.0.0.0";
  EXPECT_THAT(Server::Start(options).status().ToString(), HasSubstr("or a token"));
  options.metrics_token = "open barley";
  EXPECT_TRUE(Server::Start(options).ok());
}

TEST(Security, WhatIsMissingIsNamed) {
  Security half;
  half.cert_file = "/no/such.pem";
  EXPECT_EQ(Server::Start({.port = 0, .security = half}).status().message(),
            "TLS: a certificate and its key come together, got only a certificate");
  half.key_file = "/no/such.key";
  EXPECT_EQ(Server::Start({.port = 0, .security = half}).status().message(),
            "TLS: cannot read '/no/such.key'");
}

TEST(Security, MessagesThatAreTooLargeAreRefused) {
  auto server = Server::Start({.port = 0, .max_message_bytes = 1 << 20});
  ASSERT_TRUE(server.ok()) << server.status();
  Graph g;
  const Output x = Placeholder(g, DT_FLOAT, {-1}, "x");
  const Output y = Identity(x);
  auto session = RemoteSession::Connect(g, (*server)->target());
  ASSERT_TRUE(session.ok()) << session.status();
  const auto run = [&](int64_t n) {
    return (*session)->Run({{x, Tensor(DT_FLOAT, {n})}}, {y}).status().code();
  };
  EXPECT_EQ(run(1 << 16), absl::StatusCode::kOk);
  EXPECT_EQ(run(1 << 20), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(run(1 << 16), absl::StatusCode::kOk);
}

}  // namespace
}  // namespace sluice
