// Writes the audit log of a server: one JSON object per line, for every session of a client, every
// graph that it sends, and every file that it uses.
//
//   {"time": "2026-11-27T08:15:02.125Z", "event": "file", "session": "3", "action": "read", "path":
//   "/data/a"}
//
// Unlike the log of events (event_log.h) it leaves no line out. If a line cannot be written, the
// log of events gets a line "audit_failed", and the server goes on.
//
// Thread safety: all functions may be called from any thread.
#ifndef SLUICE_DISTRIBUTED_EVENTS_AUDIT_LOG_H_
#define SLUICE_DISTRIBUTED_EVENTS_AUDIT_LOG_H_

#include <string>

#include "absl/status/status.h"
#include "distributed/events/event_log.h"

namespace sluice {

// Makes later calls of Audit append to the file `path`. If the file is created, only this process's
// user may read it. UNAVAILABLE if the file cannot be opened.
absl::Status OpenAuditLog(const std::string& path);
// Opens the path again, after the file was renamed. After an error the former file stays open.
absl::Status ReopenAuditLog();
// Whether a log is open. If it is not, callers need not compute what Audit would not write.
bool IsAudited();
// Writes a line. Does nothing if no log is open.
void Audit(const char* event, const EventFields& fields);

}  // namespace sluice

#endif  // SLUICE_DISTRIBUTED_EVENTS_AUDIT_LOG_H_
