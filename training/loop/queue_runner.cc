#include "training/loop/queue_runner.h"

#include <algorithm>
#include <atomic>
#include <memory>

#include "executor/step/cancellation.h"
#include "graph/status.h"

namespace sluice {
namespace {

bool Contains(const std::vector<absl::StatusCode>& codes, absl::StatusCode code) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

}  // namespace

void QueueRunner::Start(Session& session, Coordinator& coordinator) const {
  // Closing the queue ends what waits in it; what an enqueue op waits for elsewhere (an
  // accumulator, another queue) is ended by cancelling its step.
  auto cancellation = std::make_shared<CancellationManager>();
  coordinator.OnStop([&session, cancellation, cancel = cancel_op] {
    if (cancel) session.Run({cancel}).IgnoreError();
    cancellation->StartCancel();
  });
  auto running = std::make_shared<std::atomic<size_t>>(enqueue_ops.size());
  for (const Operation& enqueue : enqueue_ops) {
    auto body = [&session, &coordinator, running, cancellation, enqueue, close = close_op,
                 codes = closed_codes]() -> absl::Status {
      const RunOptions options = {.cancellation = cancellation.get()};
      absl::Status status;
      while (status.ok() && !coordinator.ShouldStop()) {
        status = session.Run({}, {}, {enqueue}, options).status();
      }
      const bool closed = Contains(codes, status.code());
      if (running->fetch_sub(1) == 1 && closed && close) {
        SLUICE_RETURN_IF_ERROR(session.Run({close}));
      }
      return closed ? absl::OkStatus() : status;
    };
    coordinator.Start(StrCat("queue runner ", queue_name, " ", enqueue.name()), std::move(body));
  }
}

}  // namespace sluice
