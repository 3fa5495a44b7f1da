// demos/fashion_mnist is killed at random moments, and ends with the same bits as an uninterrupted
// run.
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>

#include "gmock/gmock.h"
#include "graph/status.h"
#include "gtest/gtest.h"
#include "tests/endtoend/idx_file.h"
#include "tests/endtoend/program.h"
#include "training/checkpoint/checkpoint_reader.h"
#include "training/checkpoint/checkpoint_state.h"

namespace sluice {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using ::testing::HasSubstr;

constexpr int kKills = 50;
constexpr int64_t kSteps = 100;

// Few images, so that a restarted program is soon training again.
std::string MakeData() {
  const std::string folder = ::testing::TempDir() + "/data";
  std::filesystem::create_directories(folder);
  std::mt19937 random(5);
  const auto pixel = [&] { return static_cast<uint8_t>(random()); };
  const auto label = [&] { return static_cast<uint8_t>(random() % 10); };
  WriteIdx(folder + "/train-images-idx3-ubyte", {300, 28, 28}, pixel);
  WriteIdx(folder + "/train-labels-idx1-ubyte", {300}, label);
  WriteIdx(folder + "/t10k-images-idx3-ubyte", {20, 28, 28}, pixel);
  WriteIdx(folder + "/t10k-labels-idx1-ubyte", {20}, label);
  return folder;
}

std::string Made(std::string pattern) { return mkdtemp(pattern.data()) != nullptr ? pattern : ""; }

// In memory if possible: hundreds of checkpoints are synced, which takes minutes on a busy disk.
// The result of a kill is the same.
struct Folders {
  Folders() : root(Made("/dev/shm/killed_training_XXXXXX")) {
    if (root.empty()) root = Made(::testing::TempDir() + "/killed_training_XXXXXX");
  }
  ~Folders() {
    std::error_code ignored;
    std::filesystem::remove_all(root, ignored);
  }
  std::string root;
};

std::string NewFolder() {
  static const Folders folders;
  std::string folder = Made(folders.root + "/XXXXXX");
  EXPECT_FALSE(folder.empty()) << folders.root;
  return folder;
}

// The step of the latest checkpoint, or -1 if there is none yet.
int64_t LatestStep(const std::string& folder) {
  const absl::StatusOr<std::string> latest = LatestCheckpoint(folder);
  return latest.ok() ? std::atoll(latest->c_str() + latest->rfind('-') + 1) : -1;
}

// Name -> bytes of everything in the latest checkpoint.
std::map<std::string, std::string> BitsOf(const std::string& folder) {
  std::map<std::string, std::string> bits;
  const auto reader = CheckpointReader::Open(folder);
  EXPECT_TRUE(reader.ok()) << reader.status();
  if (!reader.ok()) return bits;
  for (const SavedTensor& saved : (*reader)->tensors()) {
    const absl::StatusOr<Tensor> tensor = (*reader)->Read(saved.name);
    EXPECT_TRUE(tensor.ok()) << tensor.status();
    if (!tensor.ok()) continue;
    bits[saved.name].assign(static_cast<const char*>(tensor->raw()), tensor->bytes());
  }
  return bits;
}

void ExpectEqualBits(const std::map<std::string, std::string>& found,
                     const std::map<std::string, std::string>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [name, bytes] : expected) {
    ASSERT_EQ(found.count(name), 1u) << name;
    EXPECT_TRUE(found.at(name) == bytes) << "variable '" << name << "' has other bits";
  }
}

using Flags = std::vector<std::string>;

Flags Command(const std::string& data, const std::string& folder, const Flags& more,
              int64_t steps = kSteps) {
  Flags all = {"demos/fashion_mnist",
               "--data=" + data,
               "--checkpoint_dir=" + folder,
               "--out=" + ::testing::TempDir(),
               "--deterministic",
               "--replicas=2",
               "--batch=16",
               "--steps=" + std::to_string(steps),
               "--save_checkpoint_steps=10",
               "--evaluate_every=0"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

// An uninterrupted training, and one that is killed repeatedly.
class Training {
 public:
  Training(std::string data, Flags flags) : data_(std::move(data)), flags_(std::move(flags)) {
    const std::string folder = NewFolder();
    const auto start = Clock::now();
    Program unbroken(Command(data_, folder, flags_));
    EXPECT_EQ(unbroken.WaitForEnd(), 0) << unbroken.output();
    duration_ = Clock::now() - start;
    EXPECT_EQ(LatestStep(folder), kSteps);
    expected_ = BitsOf(folder);
    EXPECT_EQ(expected_.count("global_step"), 1u);
    EXPECT_GE(expected_.size(), 7u);
  }

  // Starts or continues the training, and kills it after this fraction of an uninterrupted run's
  // time. Returns false if it had already ended. Then its bits are compared, and a new training
  // begins.
  bool KillAfter(double part) {
    const int64_t last = LatestStep(folder_);
    const auto start = Clock::now();
    Program program(Command(data_, folder_, flags_));
    std::optional<int> end =
        program.WaitForEnd(std::chrono::duration_cast<milliseconds>(part * duration_));
    if (!end) {
      program.Signal(SIGKILL);
      const int how = program.WaitForEnd();
      if (how != -SIGKILL) end = how;  // it ended before the kill
    }
    ExpectGoesOnFrom(last, program.output());
    EXPECT_GE(LatestStep(folder_), last) << "a kill lost the last checkpoint";
    if (!end) return true;
    // The machine may have been busy during the first run, and then all kills would come too late.
    if (last <= 0) duration_ = std::min<Clock::duration>(duration_, Clock::now() - start);
    EXPECT_EQ(*end, 0) << program.output();
    EXPECT_EQ(LatestStep(folder_), kSteps);
    ExpectEqualBits(BitsOf(folder_), expected_);
    folder_ = NewFolder();
    return false;
  }
  void Finish() { EXPECT_FALSE(KillAfter(1000)); }
  milliseconds duration() const { return std::chrono::duration_cast<milliseconds>(duration_); }
  int64_t latest() const { return LatestStep(folder_); }

 private:
  static void ExpectGoesOnFrom(int64_t last, const std::string& output) {
    if (last > 0 && output.find("\nstep ") != std::string::npos) {
      EXPECT_THAT(output, HasSubstr(StrCat("going on from step ", last, "\n")));
    }
    if (last <= 0) {
      EXPECT_EQ(output.find("going on"), std::string::npos) << output;
    }
  }

  const std::string data_;
  const Flags flags_;
  Clock::duration duration_{0};
  std::map<std::string, std::string> expected_;
  std::string folder_ = NewFolder();
};

TEST(KilledTraining, GoesOnFromTheLastCheckpointToTheSameBits) {
  const char* given = std::getenv("SLUICE_SEED");
  const auto seed =
      given != nullptr ? static_cast<unsigned>(std::atoll(given)) : std::random_device()();
  std::printf("seed %u (SLUICE_SEED=%u draws the same moments)\n", seed, seed);
  std::fflush(stdout);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> moment(0, 1.1);
  const std::string data = MakeData();
  // An update takes one gradient of each replica, or two of each.
  Training adam(data, {"--optimizer=adam"});
  Training momentum(data, {"--optimizer=momentum", "--replicas_to_aggregate=4"});
  if (::testing::Test::HasFailure()) return;
  int ended = 0;
  for (int kills = 0; kills < kKills && !::testing::Test::HasFailure();) {
    Training& training = kills % 2 == 0 ? adam : momentum;
    if (training.KillAfter(moment(random))) {
      ++kills;
      std::printf("kill %d: last checkpoint at step %lld\n", kills,
                  static_cast<long long>(training.latest()));
      std::fflush(stdout);
    } else {
      ++ended;
    }
  }
  adam.Finish();
  momentum.Finish();
  std::printf("%d kills, %d trainings to the end; an unbroken one takes %lld and %lld ms\n", kKills,
              ended + 2, static_cast<long long>(adam.duration().count()),
              static_cast<long long>(momentum.duration().count()));
}

// Ctrl-C: the program completes the step, saves, and exits normally.
TEST(KilledTraining, AnInterruptSavesAndEndsWell) {
  const std::string data = MakeData();
  const std::string folder = NewFolder();
  Program program(Command(data, folder, {}, 1'000'000));
  ASSERT_TRUE(program.WaitForOutput("loss ")) << program.output();
  program.Signal(SIGINT);
  EXPECT_EQ(program.WaitForEnd(), 0) << program.output();
  const int64_t step = LatestStep(folder);
  EXPECT_THAT(program.output(), HasSubstr(StrCat("interrupted after step ", step, "\n")));
  const std::string unbroken = NewFolder();
  for (const std::string& of : {folder, unbroken}) {
    Program program(Command(data, of, {}, step + 20));
    EXPECT_EQ(program.WaitForEnd(), 0) << program.output();
    EXPECT_EQ(LatestStep(of), step + 20);
  }
  ExpectEqualBits(BitsOf(folder), BitsOf(unbroken));
}

}  // namespace
}  // namespace sluice
