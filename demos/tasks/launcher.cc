#include "demos/tasks/launcher.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <sstream>

#include "graph/status.h"

namespace sluice::demos {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point t) {
  return std::chrono::duration<double>(Clock::now() - t).count();
}

absl::StatusOr<int> FreePort() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  const bool ok = fd >= 0 && bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  if (fd >= 0) close(fd);
  if (!ok) return absl::UnavailableError("no free port on 127.0.0.1");
  return ntohs(address.sin_port);
}

// A task's process and its latest messages.
struct Task {
  enum State { kStarting, kRunning, kKilled, kEnded };

  TaskName name;
  pid_t pid = -1;
  int in = -1, out = -1;  // pipes to and from the process
  std::string unread;
  State state = kStarting;
  int64_t global_step = 0, local_steps = 0;
  double loss = 0;
  Clock::time_point first_told;
  int64_t first_local = 0;

  bool is_worker() const { return name.job == "worker"; }
  bool is_over() const { return state == kKilled || state == kEnded; }
};

void Start(Task& task, const std::vector<std::string>& command) {
  int in[2], out[2];
  if (pipe(in) != 0 || pipe(out) != 0) return;
  task.pid = fork();
  if (task.pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    for (const int fd : {in[0], in[1], out[0], out[1]}) close(fd);
    std::vector<char*> arguments;
    for (const std::string& part : command) arguments.push_back(const_cast<char*>(part.c_str()));
    arguments.push_back(nullptr);
    execv("/proc/self/exe", arguments.data());
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  task.in = in[1];
  task.out = out[0];
  task.unread.clear();
  task.first_local = 0;
  task.state = task.is_worker() ? Task::kStarting : Task::kRunning;
}

class Launcher {
 public:
  explicit Launcher(const LaunchOptions& options)
      : options_(options), is_terminal_(isatty(STDOUT_FILENO) == 1) {}
  ~Launcher() {
    for (Task& task : tasks_) {
      if (!task.is_over()) kill(task.pid, SIGKILL);
    }
    for (Task& task : tasks_) Reap(task);
  }

  absl::StatusOr<LaunchResult> Run() {
    SLUICE_RETURN_IF_ERROR(StartAll());
    while (!WorkersHaveEnded()) {
      SLUICE_RETURN_IF_ERROR(Read(std::chrono::milliseconds(100)));
      KillOrRestart();
      Show();
    }
    result_.seconds = has_begun_ ? SecondsSince(began_) : 0;
    for (Task& task : tasks_) {
      if (task.is_worker()) continue;
      close(task.in);  // requests its end
      task.in = -1;
    }
    while (std::any_of(tasks_.begin(), tasks_.end(), [](Task& t) { return !t.is_over(); })) {
      SLUICE_RETURN_IF_ERROR(Read(std::chrono::milliseconds(100)));
    }
    return result_;
  }

 private:
  absl::Status StartAll() {
    for (const auto& [job, count] : {std::pair{"ps", options_.ps}, {"worker", options_.workers}}) {
      for (int i = 0; i < count; ++i) {
        SLUICE_ASSIGN_OR_RETURN(const int port, FreePort());
        spec_.SetAddress({job, i}, StrCat("127.0.0.1:", port));
        tasks_.push_back({.name = {job, i}});
      }
    }
    for (Task& task : tasks_) demos::Start(task, options_.command(spec_, task.name));
    return absl::OkStatus();
  }

  bool WorkersHaveEnded() const {
    return std::all_of(tasks_.begin(), tasks_.end(),
                       [](const Task& task) { return !task.is_worker() || task.is_over(); });
  }

  absl::Status Read(std::chrono::milliseconds most) {
    std::vector<pollfd> polled;
    std::vector<Task*> of;
    for (Task& task : tasks_) {
      if (task.is_over()) continue;
      polled.push_back({task.out, POLLIN, 0});
      of.push_back(&task);
    }
    poll(polled.data(), polled.size(), static_cast<int>(most.count()));
    for (size_t i = 0; i < polled.size(); ++i) {
      if (polled[i].revents == 0) continue;
      char bytes[4096];
      const ssize_t n = read(polled[i].fd, bytes, sizeof(bytes));
      if (n <= 0) {
        SLUICE_RETURN_IF_ERROR(Ended(*of[i]));
      } else {
        of[i]->unread.append(bytes, static_cast<size_t>(n));
        TakeLines(*of[i]);
      }
    }
    return absl::OkStatus();
  }

  void TakeLines(Task& task) {
    for (size_t end; (end = task.unread.find('\n')) != std::string::npos;) {
      TakeLine(task, task.unread.substr(0, end));
      task.unread.erase(0, end + 1);
    }
  }

  void TakeLine(Task& task, const std::string& line) {
    std::istringstream words(line);
    std::string what;
    words >> what;
    if (what == "accuracy") words >> result_.accuracy;
    if (what == "ledger") result_.ledger = line.substr(7);
    if (what == "print") Say(line.substr(6));
    if (what != "at") return;
    words >> task.global_step >> task.local_steps >> task.loss;
    if (!std::exchange(has_begun_, true)) began_ = Clock::now();
    if (task.state == Task::kStarting) {
      task.state = Task::kRunning;
      task.first_told = Clock::now();
      task.first_local = task.local_steps;
      if (kill_state_ == kRestarted && &task == &tasks_.back()) {
        result_.rejoined_at = task.global_step;
      }
    }
    result_.steps = std::max(result_.steps, task.global_step);
  }

  int Reap(Task& task) {
    for (int* fd : {&task.in, &task.out}) {
      if (*fd >= 0) close(*fd);
      *fd = -1;
    }
    int status = 0;
    if (task.pid > 0) waitpid(task.pid, &status, 0);
    task.pid = -1;
    return status;
  }

  absl::Status Ended(Task& task) {
    const int status = Reap(task);
    task.state = Task::kEnded;
    if (status == 0) return absl::OkStatus();
    return absl::AbortedError(StrCat(task.name.ToString(), " has ended with ",
                                     WIFSIGNALED(status) ? "signal " : "code ",
                                     WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status)));
  }

  // Kills the last worker at a third of the steps, and restarts it at half of them.
  void KillOrRestart() {
    if (!options_.kill_one) return;
    Task& victim = tasks_.back();
    if (kill_state_ == kAlive && result_.steps >= options_.steps / 3 &&
        victim.state == Task::kRunning) {
      kill(victim.pid, SIGKILL);
      Reap(victim);
      victim.state = Task::kKilled;
      kill_state_ = kDead;
      Say(fmt::format("worker:{} killed at step {}", victim.name.index, result_.steps));
    } else if (kill_state_ == kDead && result_.steps >= options_.steps / 2) {
      demos::Start(victim, options_.command(spec_, victim.name));
      kill_state_ = kRestarted;
      Say(fmt::format("worker:{} started again at step {}", victim.name.index, result_.steps));
    }
  }

  void Say(const std::string& line) {
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
    shown_lines_ = 0;
  }

  void Show() {
    if (!has_begun_ || SecondsSince(shown_) < (is_terminal_ ? 0.3 : 2.0)) return;
    shown_ = Clock::now();
    if (is_terminal_ && shown_lines_ > 0) std::printf("\x1b[%dA", shown_lines_);
    std::string text = fmt::format("{:<10} {:<9} {:>8} {:>8} {:>9} {:>9}\n", "task", "state",
                                   "step", "batches", "loss", "samples/s");
    static constexpr const char* kStates[] = {"starting", "running", "killed", "ended"};
    for (const Task& task : tasks_) {
      const std::string name = fmt::format("{}:{}", task.name.job, task.name.index);
      text += fmt::format("{:<10} {:<9}", name, kStates[task.state]);
      if (task.is_worker()) {
        const double seconds = SecondsSince(task.first_told);
        const auto batches = static_cast<double>(task.local_steps - task.first_local);
        text += fmt::format(
            " {:>8} {:>8} {:>9.4f} {:>9.0f}", task.global_step, task.local_steps, task.loss,
            task.state == Task::kRunning ? batches * static_cast<double>(options_.batch) / seconds
                                         : 0);
      }
      text += is_terminal_ ? "\x1b[K\n" : "\n";
    }
    text +=
        fmt::format("step {}/{}, {:.1f} s\n", result_.steps, options_.steps, SecondsSince(began_));
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    shown_lines_ = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  }

  const LaunchOptions& options_;
  const bool is_terminal_;
  ClusterSpec spec_;
  std::vector<Task> tasks_;
  LaunchResult result_;
  enum { kAlive, kDead, kRestarted } kill_state_ = kAlive;
  bool has_begun_ = false;
  Clock::time_point began_, shown_;
  int shown_lines_ = 0;
};

}  // namespace

absl::StatusOr<LaunchResult> Launch(const LaunchOptions& options) {
  SLUICE_INVALID_IF(options.ps < 1 || options.workers < 1,
                    "a cluster needs a parameter server and a worker");
  SLUICE_INVALID_IF(options.kill_one && options.workers < 2,
                    "--kill_one needs a second worker: the first is the chief");
  Launcher launcher(options);
  return launcher.Run();
}

}  // namespace sluice::demos
