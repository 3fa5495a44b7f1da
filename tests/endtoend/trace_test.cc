// `sluice trace --steps=10..20` of a cluster writes all tasks to one file, with one clock. Row 40
// of docs/demands.md.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "distributed/testing/free_port.h"
#include "gmock/gmock.h"
#include "graph/format/graph_def.h"
#include "graph/strings.h"
#include "gtest/gtest.h"
#include "sluice.h"
#include "tests/endtoend/program.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

struct Event {
  int pid;
  double begin, end;  // microseconds
};

// The runs of the nodes with that name.
std::vector<Event> EventsOf(const std::string& json, const std::string& node) {
  const std::regex event(
      "\"pid\": ([0-9]+), \"tid\": [0-9]+, \"ts\": ([0-9.]+), \"dur\": ([0-9.]+), "
      "\"args\": \\{\"name\": \"" +
      node + "\"");
  std::vector<Event> events;
  for (std::sregex_iterator it(json.begin(), json.end(), event), end; it != end; ++it) {
    const double begin = std::stod((*it)[2]);
    events.push_back({std::stoi((*it)[1]), begin, begin + std::stod((*it)[3])});
  }
  return events;
}

TEST(Trace, StepsOfAClusterAreInOneFileOnOneClock) {
  const std::string ps = StrCat("127.0.0.1:", FreePort()),
                    worker = StrCat("127.0.0.1:", FreePort());
  std::vector<std::unique_ptr<Program>> servers;
  for (const char* job : {"ps", "worker"}) {
    servers.push_back(std::make_unique<Program>(std::vector<std::string>{
        "tools/sluice", "server",
        StrCat("--cluster={\"ps\": [\"", ps, "\"], \"worker\": [\"", worker, "\"]}"),
        StrCat("--job=", job)}));
    ASSERT_TRUE(servers.back()->WaitForOutput("listening at")) << servers.back()->output();
  }
  Graph g;
  Output there, here;
  {
    DeviceScope on_ps(g, "/job:ps/task:0");
    there = Neg(RandomUniform(Constant(g, {1000}), DT_FLOAT), {.name = "there"});
  }
  {
    DeviceScope on_worker(g, "/job:worker/task:0");
    here = ReduceSum(there, 0, {.name = "here"});
  }
  ASSERT_TRUE(g.status().ok()) << g.status();
  const std::string file = ::testing::TempDir() + "/graph.pb";
  const std::string chrome = ::testing::TempDir() + "/trace.json";
  std::ofstream(file, std::ios::binary) << ExportGraphDef(g)->SerializeAsString();
  Program trace({"tools/sluice", "trace", file, "--master=grpc://" + worker, "--fetches=here:0",
                 "--steps=10..20", "--chrome=" + chrome});
  ASSERT_EQ(trace.WaitForEnd(), 0) << trace.output();
  EXPECT_THAT(trace.output(), HasSubstr("of 11 steps"));
  EXPECT_THAT(trace.output(), HasSubstr("/job:ps/replica:0/task:0/device:CPU:0"));

  std::ifstream in(chrome);
  const std::string json((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::vector<Event> first = EventsOf(json, "there"), second = EventsOf(json, "here");
  ASSERT_EQ(first.size(), 11u) << json.substr(0, 2000);
  ASSERT_EQ(second.size(), 11u);
  for (size_t step = 0; step < 11; ++step) {
    EXPECT_NE(first[step].pid, second[step].pid);
    // On one host the clocks are equal, and inputs come first.
    EXPECT_LE(first[step].begin, second[step].begin);
    if (step > 0) {
      EXPECT_LE(second[step - 1].end, first[step].begin);
    }
  }
}

TEST(Trace, RangesThatAreNoneAreRefused) {
  for (const char* range : {"20..10", "x", "-1..3", "1..", "-5"}) {
    Program trace({"tools/sluice", "trace", "nothing.pb", StrCat("--steps=", range)});
    EXPECT_NE(trace.WaitForEnd(), 0) << range;
    EXPECT_THAT(trace.output(), HasSubstr("expected a number of steps, or first..last"));
  }
}

}  // namespace
}  // namespace sluice
