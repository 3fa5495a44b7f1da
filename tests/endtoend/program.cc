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
namespace {

int MillisecondsUntil(std::chrono::steady_clock::time_point time) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      time - std::chrono::steady_clock::now());
  return static_cast<int>(std::max<int64_t>(left.count(), 0));
}

}  // namespace

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
  const int wait_ms = deadline ? MillisecondsUntil(*deadline) : -1;
  return poll(&readable, 1, wait_ms) > 0 && ReadSome();
}

bool Program::ReadSome() {
  char bytes[4096];
  const ssize_t n = read(pipe_, bytes, sizeof(bytes));
  at_end_ = n <= 0;
  if (!at_end_) output_.append(bytes, static_cast<size_t>(n));
  return !at_end_;
}

bool Program::ReadAny(const std::vector<Program*>& programs,
                      std::chrono::steady_clock::time_point deadline) {
  std::vector<pollfd> pipes;
  std::vector<Program*> of_pipe;
  for (Program* program : programs) {
    if (program->at_end()) continue;
    pipes.push_back({program->pipe_, POLLIN, 0});
    of_pipe.push_back(program);
  }
  const int wait_ms = MillisecondsUntil(deadline);
  if (pipes.empty() || poll(pipes.data(), pipes.size(), wait_ms) <= 0) return false;
  for (size_t i = 0; i < pipes.size(); ++i) {
    if (pipes[i].revents != 0) of_pipe[i]->ReadSome();
  }
  return true;
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
