#include "tests/endtoend/program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

extern char** environ;

namespace sluice {

Program::Program(const std::vector<std::string>& arguments) {
  int ends[2];
  int input[2];
  if (pipe2(ends, O_CLOEXEC) != 0 || pipe2(input, O_CLOEXEC) != 0) return;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
  std::vector<char*> argv;
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  if (posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ) != 0) pid_ = -1;
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  close(input[0]);
  pipe_ = ends[0];
  input_ = input[1];
}

Program::~Program() {
  if (pid_ > 0) {
    Signal(SIGKILL);
    Reap();
  }
  if (pipe_ >= 0) close(pipe_);
  CloseInput();
}

void Program::CloseInput() {
  if (input_ >= 0) close(input_);
  input_ = -1;
}

void Program::Signal(int signal) {
  if (pid_ > 0) kill(pid_, signal);
}

bool Program::Read(std::optional<std::chrono::steady_clock::time_point> deadline) {
  if (at_end_ || pid_ <= 0) return false;
  pollfd readable = {pipe_, POLLIN, 0};
  int wait_ms = -1;
  if (deadline) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        *deadline - std::chrono::steady_clock::now());
    wait_ms = static_cast<int>(std::max<int64_t>(left.count(), 0));
  }
  if (poll(&readable, 1, wait_ms) <= 0) return false;
  char bytes[4096];
  const ssize_t n = read(pipe_, bytes, sizeof(bytes));
  at_end_ = n <= 0;
  if (!at_end_) output_.append(bytes, static_cast<size_t>(n));
  return !at_end_;
}

bool Program::WaitForOutput(const std::string& text) {
  while (output_.find(text) == std::string::npos) {
    if (!Read(std::nullopt)) return false;
  }
  return true;
}

std::optional<int> Program::WaitForEnd(std::chrono::milliseconds most) {
  const auto deadline = std::chrono::steady_clock::now() + most;
  while (Read(deadline)) {
  }
  return at_end_ || pid_ <= 0 ? std::optional<int>(Reap()) : std::nullopt;
}

int Program::WaitForEnd() {
  while (Read(std::nullopt)) {
  }
  return Reap();
}

int Program::Reap() {
  if (pid_ <= 0) return 127;
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace sluice
