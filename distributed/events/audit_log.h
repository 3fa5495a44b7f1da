// The audit log of a server: one JSON object per line, for every session of a client, every graph
// that it sends, and every file that it uses.
//
//   {"time": "2026-11-27T08:15:02.125Z", "event": "file", "session": "3", "action": "read", "path":
//   "/data/a"}
//
// Unlike the log of events (event_log.h) no line is left out. A line that cannot be written is
// reported there as audit_failed, and the server goes on.
//
// Thread safety: all functions may be called from any thread.
#ifndef SLUICE_DISTRIBUTED_EVENTS_AUDIT_LOG_H_
#define SLUICE_DISTRIBUTED_EVENTS_AUDIT_LOG_H_

#include <string>

#include "absl/status/status.h"
#include "distributed/events/event_log.h"

namespace sluice {

// Appends to a file of this process from now on. Only its user may read a file that is made here.
// UNAVAILABLE if the file cannot be opened.
absl::Status OpenAuditLog(const std::string& path);
// Opens the path again, after the file was renamed. After an error the former file stays open.
absl::Status ReopenAuditLog();
// Returns whether a log is open. If not, callers need not compute the fields of an event.
bool IsAudited();
// Does nothing without a log.
void Audit(const char* event, const EventFields& fields);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_EVENTS_AUDIT_LOG_H_
