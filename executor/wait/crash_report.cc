#include "executor/wait/crash_report.h"

#include <execinfo.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

namespace sluice {

thread_local constinit RunningNode::Id RunningNode::current_ = {nullptr, nullptr, 0};

namespace {

struct FatalSignal {
  int number;
  const char* name;
};
constexpr FatalSignal kFatal[] = {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
                                  {SIGILL, "SIGILL"},   {SIGABRT, "SIGABRT"}, {SIGTRAP, "SIGTRAP"}};
constexpr int kMaxFrames = 64;
// If the report takes longer than this, for example because it hangs, the process ends.
constexpr unsigned kReportSeconds = 10;

// A line of text, made and written without memory allocation, because the heap may be damaged.
class Line {
 public:
  Line& Add(const char* text) {
    for (; *text != '\0' && size_ + 1 < sizeof(bytes_); ++text) bytes_[size_++] = *text;
    return *this;
  }
  Line& AddNumber(uint64_t value, unsigned base) {
    char digits[24];
    int count = 0;
    do {
      digits[count++] = "0123456789abcdef"[value % base];
      value /= base;
    } while (value != 0);
    while (count > 0 && size_ + 1 < sizeof(bytes_)) bytes_[size_++] = digits[--count];
    return *this;
  }
  void Write() {
    bytes_[size_++] = '\n';
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, bytes_, size_);
  }

 private:
  char bytes_[512];
  size_t size_ = 0;
};

void Report(int signal, siginfo_t* info, void*) {
  static std::atomic<bool> reports{false};
  if (reports.exchange(true)) {  // another thread, or this report itself, has crashed too
    for (;;) pause();
  }
  alarm(kReportSeconds);
  const char* name = "";
  for (const FatalSignal& fatal : kFatal) {
    if (fatal.number == signal) name = fatal.name;
  }
  Line line;
  line.Add("FATAL ").Add(name);
  if (signal == SIGSEGV || signal == SIGBUS) {
    line.Add(" at address 0x").AddNumber(reinterpret_cast<uint64_t>(info->si_addr), 16);
  }
  line.Add(" in thread ").AddNumber(static_cast<uint64_t>(gettid()), 10).Write();
  const RunningNode::Id node = RunningNode::Current();
  if (node.name != nullptr) {
    Line running;
    running.Add("running node '").Add(node.name).Add("' (").Add(node.op).Add(") of step ");
    running.AddNumber(static_cast<uint64_t>(node.step), 10).Write();
  }
  void* frames[kMaxFrames];
  backtrace_symbols_fd(frames, backtrace(frames, kMaxFrames), STDERR_FILENO);
  struct sigaction usual = {};
  usual.sa_handler = SIG_DFL;
  sigaction(signal, &usual, nullptr);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  raise(signal);
}

}  // namespace

void ReportCrashes() {
  void* frame;
  backtrace(&frame, 1);  // loads libgcc now, which allocates memory
  struct sigaction action = {};
  action.sa_sigaction = &Report;
  action.sa_flags = SA_SIGINFO;
  for (const FatalSignal& fatal : kFatal) sigaction(fatal.number, &action, nullptr);
}

}  // namespace sluice
