// How programs over several frameworks take turns at a case.
#ifndef SLUICE_BENCHMARKS_GRAPHS_TURN_H_
#define SLUICE_BENCHMARKS_GRAPHS_TURN_H_

#include <cstdio>
#include <string>

namespace sluice {

// Announces the case that is next, and waits for a line on the standard input: whoever started the
// program lets another one run meanwhile. Also builds beside TensorFlow, in C++17.
inline void AwaitTurn(const std::string& label) {
  std::printf("{\"next\":\"%s\"}\n", label.c_str());
  std::fflush(stdout);
  for (int c = 0; c != '\n' && c != EOF;) c = std::getchar();
}

}  // namespace sluice

#endif  // SLUICE_BENCHMARKS_GRAPHS_TURN_H_
