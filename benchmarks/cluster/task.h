// The main function of one process of a cluster whose speed is measured. All frameworks share it: a
// program for a framework implements Framework and calls RunTask.
//
//   serve --cluster C --job ps --task 0
//     Runs a server until the standard input ends.
//   time --cluster C --job worker --task 0 --manifest F
//     Times the cases that file F lists. The master is the server in this process.
//   time --target grpc://host:port --manifest F
//     Times the same cases as a client of the master at this address.
//   train --cluster C --job worker --task 1 --graph PREFIX
//     Runs the steps of a replica until the standard input ends.
//
// C is "ps=host:port;worker=host:port,host:port". The controlling program (cluster.py) writes lines
// to the standard input of the process and reads lines from its standard output.
#ifndef SLUICE_BENCHMARKS_CLUSTER_TASK_H_
#define SLUICE_BENCHMARKS_CLUSTER_TASK_H_

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace cluster_benchmark {

struct Step {
  std::vector<std::pair<std::string, std::string>> feeds;  // tensor, description (graphs/feed.h)
  std::vector<std::string> fetches, targets;
};

// A framework. If a call fails, it ends the process with a line on stderr, as all functions here
// do. Only Run returns false instead.
class Framework {
 public:
  virtual ~Framework() = default;
  virtual void Serve(const std::string& cluster, const std::string& job, int task) = 0;
  // Opens a session with the graph of a file, and closes the previous one. Without a target, the
  // session is on this process's server.
  virtual void Load(const std::string& file, const std::string& target) = 0;
  // Returns the number by which Run identifies the step.
  virtual int Prepare(const Step& step) = 0;
  virtual bool Run(int step) = 0;  // may be called from any thread
};

inline double SecondsNow() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline std::vector<std::string> SplitWords(const std::string& text, char at) {
  std::vector<std::string> words;
  std::stringstream in(text);
  for (std::string word; text != "-" && std::getline(in, word, at);) words.push_back(word);
  return words;
}

[[noreturn]] inline void Fail(const std::string& what) {
  std::fprintf(stderr, "FAILED: %s\n", what.c_str());
  std::fflush(stdout);
  _exit(1);
}

inline void Tell(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

inline void AwaitLine() {
  std::string line;
  if (!std::getline(std::cin, line)) _exit(0);
}

// Seconds per call of `once`: the median of the repetitions.
template <typename F>
double TimeCalls(F once, double repetition_s, int repetitions) {
  for (const double start = SecondsNow(); SecondsNow() - start < 0.3;) once();
  const double start = SecondsNow();
  once();
  const long calls = std::max(1L, static_cast<long>(repetition_s / (SecondsNow() - start)));
  std::vector<double> seconds;
  for (int i = 0; i < repetitions; ++i) {
    const double begin = SecondsNow();
    for (long k = 0; k < calls; ++k) once();
    seconds.push_back((SecondsNow() - begin) / static_cast<double>(calls));
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

// Measures the cases of a manifest. A line has the fields case, graph, init target, fetches,
// targets and bytes, separated by tabs; "-" means none.
inline void TimeCases(Framework& framework, const std::string& manifest,
                      const std::string& target) {
  const std::string folder = manifest.substr(0, manifest.rfind('/') + 1);
  std::ifstream in(manifest);
  for (std::string line; std::getline(in, line);) {
    const std::vector<std::string> c = SplitWords(line, '\t');
    if (c.size() < 6) continue;
    framework.Load(folder + c[1], target);
    if (c[2] != "-" && !framework.Run(framework.Prepare({{}, {}, {c[2]}}))) Fail(c[0]);
    const int step = framework.Prepare({{}, SplitWords(c[3], ','), SplitWords(c[4], ',')});
    const auto once = [&] {
      if (!framework.Run(step)) Fail(c[0]);
    };
    once();
    const double seconds = TimeCalls(once, 0.2, 5);
    std::ostringstream text;
    text << "time " << c[0] << " " << seconds << " " << c[5];
    Tell(text.str());
  }
}

// Runs the steps of a replica. <graph>.meta has the names of five ops (init, local init, tokens,
// the queue runner's op and the train op), and the descriptions of the feeds of x and y.
inline void Train(Framework& framework, const std::string& graph, bool is_chief) {
  std::ifstream meta(graph + ".meta");
  std::string init, local, tokens, queue, train, x, y;
  meta >> init >> local >> tokens >> queue >> train >> x >> y;
  framework.Load(graph + ".pb", "");
  const auto run = [&](const std::string& op) {
    if (op != "-" && !framework.Run(framework.Prepare({{}, {}, {op}}))) Fail(op);
  };
  if (is_chief) {
    for (const std::string& op : {init, local, tokens}) run(op);
    Tell("ready");
  }
  AwaitLine();  // the chief is ready
  if (!is_chief) run(local);
  if (queue != "-") {
    const int step = framework.Prepare({{}, {}, {queue}});
    std::thread([&framework, step] {
      while (framework.Run(step)) {
      }
      Fail("queue runner");
    }).detach();
  }
  const int step = framework.Prepare({{{"x:0", x}, {"y:0", y}}, {}, {train}});
  std::atomic<long> steps{0};
  std::thread([&] {
    while (framework.Run(step)) {
      if (++steps == 10) Tell("up");
    }
    Fail("train step");
  }).detach();
  for (;;) {
    AwaitLine();
    Tell("steps " + std::to_string(steps.load()));
  }
}

inline int RunTask(int argc, char** argv, Framework& framework) {
  std::map<std::string, std::string> flags;
  for (int i = 2; i + 1 < argc; i += 2) flags[std::string(argv[i]).substr(2)] = argv[i + 1];
  const std::string mode = argc > 1 ? argv[1] : "";
  const int task = std::atoi(flags["task"].c_str());
  if (flags.count("cluster") != 0) framework.Serve(flags["cluster"], flags["job"], task);
  if (mode == "serve") {
    Tell("up");
    for (;;) AwaitLine();
  } else if (mode == "time") {
    TimeCases(framework, flags["manifest"], flags["target"]);
  } else if (mode == "train") {
    Train(framework, flags["graph"], task == 0);
  } else {
    Fail("expected serve, time or train");
  }
  std::fflush(stdout);
  _exit(0);
}

}  // namespace cluster_benchmark

#endif  // SLUICE_BENCHMARKS_CLUSTER_TASK_H_
