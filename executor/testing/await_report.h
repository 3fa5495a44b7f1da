// Waits until the stall report of a session, the list of its blocked operations, says what a test
// expects.
#ifndef SLUICE_EXECUTOR_TESTING_AWAIT_REPORT_H_
#define SLUICE_EXECUTOR_TESTING_AWAIT_REPORT_H_

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "executor/session/session.h"

namespace sluice {

// Returns the session's stall report as soon as it contains all of `texts`.
inline std::string AwaitReport(const Session& session, const std::vector<std::string>& texts) {
  std::string report;
  const auto lacks = [&](const std::string& text) { return report.find(text) == report.npos; };
  do {
    std::this_thread::yield();
    report = session.StallReport();
  } while (std::any_of(texts.begin(), texts.end(), lacks));
  return report;
}

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_TESTING_AWAIT_REPORT_H_
