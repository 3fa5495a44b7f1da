#include "distributed/server/metrics_page.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

int Connect(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  return fd;
}

// Sends the lines of a request and returns the response.
std::string Ask(int port, const std::string& lines) {
  const int fd = Connect(port);
  const std::string request = lines + "Host: x\r\nConnection: close\r\n\r\n";
  EXPECT_EQ(write(fd, request.data(), request.size()), static_cast<ssize_t>(request.size()));
  std::string answer;
  char bytes[1024];
  for (ssize_t n; (n = read(fd, bytes, sizeof(bytes))) > 0;) answer.append(bytes, n);
  close(fd);
  return answer;
}

TEST(MetricsPage, TellsTheTextAndNothingElse) {
  int asked = 0;
  auto page = MetricsPage::Start({}, [&] { return "steps " + std::to_string(++asked) + "\n"; });
  ASSERT_TRUE(page.ok()) << page.status();
  for (const char* end : {"steps 1\n", "steps 2\n"}) {
    const std::string answer = Ask((*page)->port(), "GET /metrics HTTP/1.1\r\n");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\n"));
    EXPECT_THAT(answer, HasSubstr("Content-Type: text/plain; version=0.0.4\r\n"));
    EXPECT_THAT(answer, EndsWith(end));
  }
  EXPECT_THAT(Ask((*page)->port(), "GET / HTTP/1.1\r\n"), StartsWith("HTTP/1.1 404 "));
  EXPECT_THAT(Ask((*page)->port(), "POST /metrics HTTP/1.1\r\nContent-Length: 0\r\n"),
              StartsWith("HTTP/1.1 405 "));
}

// Port 70000 became port 4464.
TEST(MetricsPage, RejectsAPortThatIsTooLarge) {
  const auto page = MetricsPage::Start({.http = {.port = 70000}}, [] { return ""; });
  EXPECT_EQ(page.status(),
            absl::InvalidArgumentError("HTTP: expected a port from 0 to 65535, got 70000"));
}

TEST(MetricsPage, AsksForTheToken) {
  auto page = MetricsPage::Start({.http = {.token = "word"}}, [] { return "secret\n"; });
  ASSERT_TRUE(page.ok()) << page.status();
  const std::string get = "GET /metrics HTTP/1.1\r\n";
  EXPECT_THAT(Ask((*page)->port(), get), StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(Ask((*page)->port(), get + "Authorization: Bearer w0rd\r\n"),
              StartsWith("HTTP/1.1 401 "));
  EXPECT_THAT(Ask((*page)->port(), get + "Authorization: Bearer word\r\n"), EndsWith("secret\n"));
}

// 16 connections without a request blocked all other clients for as long as they were renewed.
TEST(MetricsPage, IdleConnectionsKeepNobodyOut) {
  auto page = MetricsPage::Start({}, [] { return "steps 1\n"; });
  ASSERT_TRUE(page.ok()) << page.status();
  std::vector<int> idle;
  for (int i = 0; i < 200; ++i) idle.push_back(Connect((*page)->port()));
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(Ask((*page)->port(), "GET /metrics HTTP/1.1\r\n"), EndsWith("steps 1\n"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
  for (const int fd : idle) close(fd);
}

std::string OutputOf(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  std::string text;
  for (int c; (c = std::fgetc(pipe)) != EOF;) text += static_cast<char>(c);
  EXPECT_EQ(pclose(pipe), 0) << command;
  return text;
}

TEST(MetricsPage, SpeaksHttpsWithACertificate) {
  const std::string base = ::testing::TempDir() + "/page";
  OutputOf(
      "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
      "-subj /CN=page -keyout " +
      base + ".key -out " + base + ".pem 2>/dev/null");
  MetricsPage::Options options;
  options.http.certificate = OutputOf("cat " + base + ".pem");
  options.http.key = OutputOf("cat " + base + ".key");
  auto page = MetricsPage::Start(options, [] { return "steps 1\n"; });
  ASSERT_TRUE(page.ok()) << page.status();
  const std::string port = std::to_string((*page)->port());
  EXPECT_THAT(
      OutputOf("printf 'GET /metrics HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n' | "
               "openssl s_client -quiet -verify_return_error -CAfile " +
               base + ".pem -connect 127.0.0.1:" + port + " 2>/dev/null"),
      EndsWith("steps 1\n"));
  EXPECT_THAT(Ask((*page)->port(), "GET /metrics HTTP/1.1\r\n"), Not(HasSubstr("steps")));
}

TEST(MetricsPage, HealthChecksNeedNoToken) {
  absl::Status ready;
  MetricsPage::Options options{.http = {.token = "word"}};
  options.ready = [&] { return ready; };
  auto page = MetricsPage::Start(options, [] { return "secret\n"; });
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_THAT(Ask((*page)->port(), "GET /healthz HTTP/1.1\r\n"), EndsWith("\r\n\r\nok\n"));
  EXPECT_THAT(Ask((*page)->port(), "GET /readyz HTTP/1.1\r\n"), EndsWith("\r\n\r\nok\n"));
  ready = absl::UnavailableError("the server stops");
  const std::string answer = Ask((*page)->port(), "GET /readyz HTTP/1.1\r\n");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 503 "));
  EXPECT_THAT(answer, EndsWith("the server stops\n"));
}

TEST(MetricsPage, AnAddressThatIsTakenIsAnError) {
  auto first = MetricsPage::Start({}, [] { return ""; });
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(
      MetricsPage::Start({.http = {.port = (*first)->port()}}, [] { return ""; }).status().code(),
      absl::StatusCode::kUnavailable);
  EXPECT_EQ(MetricsPage::Start({.http = {.bind = "nowhere"}}, [] { return ""; }).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace sluice
