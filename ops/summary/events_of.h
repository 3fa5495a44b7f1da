// The events of a file, for tests.
#ifndef SLUICE_OPS_SUMMARY_EVENTS_OF_H_
#define SLUICE_OPS_SUMMARY_EVENTS_OF_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/format/proto/event.pb.h"
#include "gtest/gtest.h"
#include "ops/io/record_file.h"

namespace sluice {

// Reads all events that the file contains so far. A file that cannot be read fails the test.
inline std::vector<pb::Event> EventsOf(const std::string& path) {
  std::vector<pb::Event> events;
  absl::StatusOr<std::unique_ptr<ByteSource>> file = OpenFile(path);
  EXPECT_TRUE(file.ok()) << file.status();
  if (!file.ok()) return events;
  RecordReader reader(*std::move(file));
  absl::StatusOr<std::string> record;
  while ((record = reader.Next()).ok()) {
    EXPECT_TRUE(events.emplace_back().ParseFromString(*record));
  }
  EXPECT_TRUE(absl::IsOutOfRange(record.status())) << record.status();
  return events;
}

}  // namespace sluice

#endif  // SLUICE_OPS_SUMMARY_EVENTS_OF_H_
