// A client of the soak test: soak_client MODE TARGET PER_SECOND SEED [ARGUMENT...]
#include "tests/attacks/soak_client.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "graph/strings.h"

namespace sluice::soak {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxErrors = 3;  // per line
constexpr size_t kMaxErrorBytes = 300;

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text.substr(0, kMaxErrorBytes)) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c >= ' ' && c <= '~' ? c : '?';
  }
  return quoted + '"';
}

}  // namespace

void Report::Count(const absl::Status& status, Clock::time_point start) {
  ++answers_[status.ok() ? "OK" : absl::StatusCodeToString(status.code())];
  ms_.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
}

void Report::AddError(std::string text) {
  if (errors_.size() < kMaxErrors) errors_.push_back(std::move(text));
}

void Report::PrintIfDue() {
  if (Clock::now() - printed_ >= std::chrono::seconds(1)) Print();
}

void Report::Print() {
  std::string line = StrCat("{\"requests\": ", ms_.size(), ", \"answers\": {");
  const char* comma = "";
  for (const auto& [name, count] : answers_) {
    StrAppend(&line, comma, Quoted(name), ": ", count);
    comma = ", ";
  }
  line += "}, \"ms\": [";
  for (size_t i = 0; i < ms_.size(); ++i) {
    char text[32];
    std::snprintf(text, sizeof(text), "%s%.2f", i == 0 ? "" : ",", ms_[i]);
    line += text;
  }
  line += "], \"errors\": [";
  for (size_t i = 0; i < errors_.size(); ++i) {
    StrAppend(&line, i == 0 ? "" : ", ", Quoted(errors_[i]));
  }
  std::printf("%s]}\n", line.c_str());
  std::fflush(stdout);
  answers_.clear();
  ms_.clear();
  errors_.clear();
  printed_ = Clock::now();
}

Pace::Pace(double per_second)
    : period_(std::chrono::duration_cast<Clock::duration>(
          std::chrono::duration<double>(1 / std::max(per_second, 0.001)))) {}

bool Pace::Next() {
  next_ = std::max(next_ + period_, Clock::now() - std::chrono::seconds(10));
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_ - Clock::now());
  return !InputEnds(static_cast<int>(std::max<int64_t>(left.count(), 0)));
}

bool InputEnds(int ms) {
  pollfd input = {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  return poll(&input, 1, ms) != 0;
}

namespace {

int Main(int argc, char** argv) {
  const std::map<std::string, int (*)(const ClientOptions&)> modes = {
      {"train", &Train}, {"hang", &Hang}, {"graphs", &SendGraphs}, {"calls", &SendCalls}};
  const auto mode = argc < 5 ? modes.end() : modes.find(argv[1]);
  if (mode == modes.end()) {
    std::fprintf(stderr,
                 "usage: soak_client train|hang|graphs|calls TARGET PER_SECOND SEED ARGUMENT...\n");
    return 2;
  }
  return mode->second({.target = argv[2],
                       .per_second = std::atof(argv[3]),
                       .seed = std::strtoull(argv[4], nullptr, 10),
                       .arguments = {argv + 5, argv + argc}});
}

}  // namespace
}  // namespace sluice::soak

int main(int argc, char** argv) { return sluice::soak::Main(argc, argv); }
