// Synchronous training on a cluster of processes. One of them is killed, stopped or disconnected,
// or its disk is full, at a random moment. Training ends in time with the same quality, and no
// update before the last checkpoint is lost. Row 21 of docs/demands.md.
//
// --rounds=20: number of repetitions (or SLUICE_FAULT_ROUNDS). --seed=7: seed of the moments (or
// SLUICE_SEED); printed if it is not given.
#include <sys/mount.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "distributed/testing/free_port.h"
#include "gmock/gmock.h"
#include "graph/strings.h"
#include "gtest/gtest.h"
#include "tests/endtoend/idx_file.h"
#include "tests/endtoend/other_host.h"
#include "tests/endtoend/program.h"
#include "training/checkpoint/checkpoint_state.h"

namespace sluice {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

constexpr int kServers = 2;
constexpr int kWorkers = 3;  // an update needs two of them
constexpr int64_t kSteps = 400;
constexpr int64_t kSaveSteps = 20;
// From the fault to the end of the training. An undisturbed training takes some seconds, the
// heartbeat two, and a fault up to ten. Machines that run tests are busy.
constexpr auto kLimit = seconds(120);
constexpr double kAccuracy = 0.9;  // an undisturbed training reaches 1.00

int rounds = 1;
unsigned seed = 0;

// Images of ten classes, each brighter at another position.
std::string MakeData() {
  const std::string folder = ::testing::TempDir() + "/faults_data";
  std::filesystem::create_directories(folder);
  for (const auto& [name, count] : {std::pair{"train", 500u}, {"t10k", 100u}}) {
    std::mt19937 random(7);
    uint32_t pixel = 0, label = 0;
    WriteIdx(StrCat(folder, "/", name, "-images-idx3-ubyte"), {count, 28, 28}, [&] {
      const uint32_t at = pixel % 784, image = pixel / 784;
      ++pixel;
      const bool is_bright = at / 78 == image % 10;
      return static_cast<uint8_t>(random() % 100 + (is_bright ? 100 : 0));
    });
    WriteIdx(StrCat(folder, "/", name, "-labels-idx1-ubyte"), {count},
             [&] { return static_cast<uint8_t>(label++ % 10); });
  }
  return folder;
}

std::string NewFolder() {
  std::string folder = ::testing::TempDir() + "/faults_XXXXXX";
  EXPECT_NE(mkdtemp(folder.data()), nullptr);
  return folder;
}

// The step of the latest checkpoint, or -1 if there is none yet.
int64_t LatestStep(const std::string& folder) {
  const absl::StatusOr<std::string> latest = LatestCheckpoint(folder);
  return latest.ok() ? std::atoll(latest->c_str() + latest->rfind('-') + 1) : -1;
}

// The global steps that a worker reports in a part of its output.
std::vector<int64_t> StepsIn(const std::string& output) {
  std::istringstream lines(output);
  std::vector<int64_t> steps;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("at ")) steps.push_back(std::atoll(line.c_str() + 3));
  }
  return steps;
}

struct Setting {
  int aggregate = kWorkers - 1;
  std::string on_lost = "wait";
  // The first parameter server's host, and that of all other tasks.
  std::string ps_host = "127.0.0.1", host = "127.0.0.1";
  std::vector<std::string> run_ps = {};  // command that starts a program on the first server's host
};

// Tasks are numbered: parameter servers, then workers, of which the first is the chief.
constexpr int kChief = kServers;
constexpr int kTasks = kServers + kWorkers;

class TrainingFaults : public ::testing::Test {
 protected:
  void Launch(const std::string& folder, const Setting& setting = {}) {
    setting_ = setting;
    folder_ = folder;
    std::string ps, workers;
    for (int i = 0; i < kTasks; ++i) {
      std::string& list = i < kServers ? ps : workers;
      StrAppend(&list, list.empty() ? "" : ", ", "\"", HostOf(i), ":", FreePort(), "\"");
    }
    flags_ = {StrCat("--cluster={\"ps\": [", ps, "], \"worker\": [", workers, "]}"),
              StrCat("--workers=", kWorkers),
              "--sync",
              StrCat("--replicas_to_aggregate=", setting.aggregate),
              "--on_lost_replica=" + setting.on_lost,
              "--data=" + data_,
              "--checkpoint_dir=" + folder,
              StrCat("--save_checkpoint_steps=", kSaveSteps),
              StrCat("--steps=", kSteps),
              "--batch=16",
              "--heartbeat_ms=2000"};
    tasks_.clear();
    tasks_.resize(kTasks);
    for (int i = 0; i < kTasks; ++i) StartTask(i);
  }
  const std::string& HostOf(int task) const { return task == 0 ? setting_.ps_host : setting_.host; }
  void StartTask(int i) {
    std::vector<std::string> command = i == 0 ? setting_.run_ps : std::vector<std::string>();
    command.push_back("demos/cluster");
    command.insert(command.end(), flags_.begin(), flags_.end());
    command.push_back(i < kServers ? StrCat("--task=ps:", i)
                                   : StrCat("--task=worker:", i - kServers));
    command.push_back("--bind=" + HostOf(i));
    command.push_back("--insecure");
    tasks_[i].reset();  // first, because the new one listens at the same port
    tasks_[i] = std::make_unique<Program>(command);
  }
  Program& chief() { return *tasks_[kChief]; }

  // Reads the output of all tasks. False if all have ended, or at the deadline.
  bool Read(Clock::time_point until) {
    std::vector<Program*> programs;
    for (const auto& task : tasks_) programs.push_back(task.get());
    return Program::ReadAny(programs, until);
  }
  // Waits until the chief has reported the step. False if it ends before, or at the deadline.
  bool AwaitStep(int64_t step) {
    const auto until = Clock::now() + kLimit;
    do {
      const std::vector<int64_t> steps = StepsIn(chief().output());
      if (!steps.empty() && steps.back() >= step) return true;
    } while (!chief().at_end() && Read(until));
    return false;
  }
  // Waits for a random moment during the training, after the first checkpoint.
  void AwaitMoment(int launches = 3) {
    const int64_t step = kSaveSteps + 5 + static_cast<int64_t>(random_() % (kSteps / 2));
    // On a busy machine, training may end before the chief has reported the step. Then the training
    // is repeated.
    for (int i = 0; i < launches - 1 && !AwaitStep(step) && EndOf(kChief) == 0; ++i) {
      Launch(NewFolder(), Setting(setting_));
    }
    ASSERT_TRUE(AwaitStep(step)) << chief().output();
    saved_ = LatestStep(folder_);
    fault_at_ = Clock::now();
    told_ = chief().output().size();
  }
  // The duration of a fault.
  void Pause(milliseconds most) { std::this_thread::sleep_for(most * (random_() % 1000) / 1000); }

  // Training continues and ends, all tasks exit normally, and no update before the checkpoint is
  // lost. `told`: length of the chief's output before the fault.
  void ExpectReachesTheEnd(const std::string& what, size_t told) {
    const auto until = fault_at_ + kLimit;
    while (!WorkersHaveEnded() && Read(until)) {
    }
    for (int i = kChief; i < kTasks; ++i) {
      EXPECT_EQ(EndOf(i), 0) << what << ": worker " << i - kServers << " (-1000: did not end)\n"
                             << tasks_[i]->output();
    }
    const std::string output = chief().output().substr(told);
    for (const int64_t step : StepsIn(output)) {
      EXPECT_GE(step, saved_) << what << ": updates before a checkpoint were lost\n" << output;
    }
    EXPECT_GE(LatestStep(folder_), kSteps) << what;  // the others may have continued for some steps
    const size_t accuracy = output.rfind("\naccuracy ");
    ASSERT_NE(accuracy, std::string::npos) << what << "\n" << output;
    EXPECT_GE(std::atof(output.c_str() + accuracy + 10), kAccuracy) << what;
    for (int i = 0; i < kServers; ++i) {
      tasks_[i]->CloseInput();
      EXPECT_EQ(EndOf(i), 0) << what << ": parameter server " << i << "\n" << tasks_[i]->output();
    }
    std::printf("%s: %.1f s from the fault to the end, saved at %lld\n", what.c_str(),
                std::chrono::duration<double>(Clock::now() - fault_at_).count(),
                static_cast<long long>(saved_));
    std::fflush(stdout);
  }
  bool WorkersHaveEnded() const {
    for (int i = kChief; i < kTasks; ++i) {
      if (!tasks_[i]->at_end()) return false;
    }
    return true;
  }
  int EndOf(int task) { return tasks_[task]->WaitForEnd(seconds(30)).value_or(-1000); }
  void Kill(int task) {
    tasks_[task]->Signal(SIGKILL);
    tasks_[task]->WaitForEnd();
  }
  // Kills the task and restarts it after a pause.
  void KillAndRestart(int task, milliseconds pause, const char* what) {
    Launch(NewFolder());
    AwaitMoment();
    if (HasFatalFailure()) return;
    Kill(task);
    Pause(pause);
    StartTask(task);
    ExpectReachesTheEnd(what, task == kChief ? 0 : told_);
  }
  // Repeats the round as configured, until a check fails.
  void Rounds(const std::function<void()>& round) {
    for (int i = 0; i < rounds && !HasFailure() && !IsSkipped(); ++i) round();
  }

  std::mt19937 random_{seed};
  const std::string data_ = MakeData();
  Setting setting_;
  std::string folder_;
  std::vector<std::string> flags_;
  std::vector<std::unique_ptr<Program>> tasks_;
  int64_t saved_ = -1;
  size_t told_ = 0;
  Clock::time_point fault_at_;
};

TEST_F(TrainingFaults, AWorkerIsKilled) {
  Rounds([&] { KillAndRestart(kChief + 1, milliseconds(1000), "killed worker"); });
}

TEST_F(TrainingFaults, AParameterServerIsKilled) {
  Rounds([&] {
    KillAndRestart(static_cast<int>(random_() % kServers), milliseconds(4000),
                   "killed parameter server");
  });
}

// The restart happens before any other task has noticed the end.
TEST_F(TrainingFaults, AParameterServerHasAnotherIncarnation) {
  Rounds([&] {
    KillAndRestart(static_cast<int>(random_() % kServers), milliseconds(0),
                   "restarted parameter server");
  });
}

TEST_F(TrainingFaults, TheChiefIsKilled) {
  Rounds([&] { KillAndRestart(kChief, milliseconds(3000), "killed chief"); });
}

TEST_F(TrainingFaults, ATaskIsStopped) {
  Rounds([&] {
    Launch(NewFolder());
    AwaitMoment();
    if (HasFatalFailure()) return;
    const int task = static_cast<int>(random_() % kTasks);
    tasks_[task]->Signal(SIGSTOP);
    std::this_thread::sleep_for(rounds > 1 ? seconds(10) : seconds(4));
    tasks_[task]->Signal(SIGCONT);
    ExpectReachesTheEnd(StrCat("stopped task ", task), told_);
  });
}

TEST_F(TrainingFaults, TheLinkToAParameterServerIsCut) {
  OtherHost host;
  if (!host.is_there()) GTEST_SKIP() << host.why_not();
  Rounds([&] {
    Launch(NewFolder(), {.ps_host = host.far(), .host = host.near(), .run_ps = host.exec()});
    AwaitMoment();
    if (HasFatalFailure()) return;
    host.Cut();
    Pause(milliseconds(6000));
    host.Mend();
    ExpectReachesTheEnd("cut link", told_);
  });
}

// The chief reports the error and ends, and so do the others. The last checkpoint is complete. When
// the disk has free space again, a restarted training continues from it.
TEST_F(TrainingFaults, TheDiskIsFullAtACheckpoint) {
  Rounds([&] {
    const std::string folder = NewFolder();
    if (mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=64m") != 0) {
      GTEST_SKIP() << "NOT TESTED: no file system can be mounted here: " << std::strerror(errno);
    }
    const std::shared_ptr<void> mounted(nullptr, [&](void*) {
      tasks_.clear();
      umount(folder.c_str());
    });
    Launch(folder);
    AwaitMoment(/*launches=*/1);
    if (HasFatalFailure()) return;
    {
      std::ofstream filler(folder + "/filler", std::ios::binary);
      const std::string piece(1 << 16, 'x');
      while (filler.write(piece.data(), static_cast<std::streamsize>(piece.size())).flush()) {
      }
    }
    while (!WorkersHaveEnded() && Read(fault_at_ + kLimit)) {
    }
    EXPECT_EQ(EndOf(kChief), 1);
    EXPECT_THAT(chief().output(), HasSubstr("No space left on device"));
    for (int i = kChief + 1; i < kTasks; ++i) EXPECT_EQ(EndOf(i), 0) << tasks_[i]->output();
    EXPECT_GE(LatestStep(folder), saved_);
    std::filesystem::remove(folder + "/filler");
    for (int i = 0; i < kTasks; ++i) StartTask(i);
    ExpectReachesTheEnd("full disk", 0);
  });
}

// --- with as many gradients as replicas, each is needed

TEST_F(TrainingFaults, TrainingWaitsForALostWorker) {
  Rounds([&] {
    Launch(NewFolder(), {.aggregate = kWorkers, .on_lost = "wait"});
    AwaitMoment();
    if (HasFatalFailure()) return;
    Kill(kTasks - 1);
    // The signal makes the chief report its blocked operations. It is sent until the chief has
    // noticed the loss.
    do {
      chief().Signal(SIGQUIT);
    } while (Read(fault_at_ + kLimit) && chief().output().find("lost: ") == std::string::npos);
    EXPECT_THAT(chief().output(), HasSubstr("replica 2 (/job:worker/replica:0/task:2)"));
    StartTask(kTasks - 1);
    ExpectReachesTheEnd("waited for", told_);
  });
}

TEST_F(TrainingFaults, TrainingGoesOnWithoutALostWorker) {
  Rounds([&] {
    Launch(NewFolder(), {.aggregate = kWorkers, .on_lost = "shrink"});
    AwaitMoment();
    if (HasFatalFailure()) return;
    Kill(kTasks - 1);
    const int64_t step = StepsIn(chief().output()).back();
    ASSERT_TRUE(AwaitStep(step + 20)) << chief().output();
    StartTask(kTasks - 1);
    ExpectReachesTheEnd("did without", told_);
  });
}

TEST_F(TrainingFaults, TrainingEndsWithALostWorker) {
  Rounds([&] {
    Launch(NewFolder(), {.aggregate = kWorkers, .on_lost = "fail"});
    AwaitMoment();
    if (HasFatalFailure()) return;
    Kill(kTasks - 1);
    while (!WorkersHaveEnded() && Read(fault_at_ + kLimit)) {
    }
    EXPECT_EQ(EndOf(kChief), 1);
    EXPECT_THAT(chief().output(), HasSubstr("replica 2 (/job:worker/replica:0/task:2) is lost"));
    EXPECT_EQ(EndOf(kChief + 1), 0) << tasks_[kChief + 1]->output();
  });
}

// The number after `flag` in the arguments, or the environment's number, or `otherwise`.
unsigned NumberOf(int argc, char** argv, const std::string& flag, const char* variable,
                  unsigned otherwise) {
  const char* given = std::getenv(variable);
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]).starts_with(flag)) given = argv[i] + flag.size();
  }
  return given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : otherwise;
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  using sluice::NumberOf;
  sluice::rounds = static_cast<int>(NumberOf(argc, argv, "--rounds=", "SLUICE_FAULT_ROUNDS", 1));
  sluice::seed = NumberOf(argc, argv, "--seed=", "SLUICE_SEED", std::random_device()());
  std::printf("rounds %d, seed %u\n", sluice::rounds, sluice::seed);
  return RUN_ALL_TESTS();
}
