// Waiting until a session's steps wait.
#ifndef SLUICE_EXECUTOR_TESTING_AWAIT_REPORT_H_
#define SLUICE_EXECUTOR_TESTING_AWAIT_REPORT_H_

#include <string>
#include <thread>

#include "executor/session/session.h"

namespace sluice {

// The session's stall report, as soon as it has `text` in it.
inline std::string AwaitReport(const Session& session, const std::string& text) {
  std::string report;
  do {
    std::this_thread::yield();
    report = session.StallReport();
  } while (report.find(text) == report.npos);
  return report;
}

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_TESTING_AWAIT_REPORT_H_
