// A producer and a consumer share a queue of three elements. The producer waits while the queue is
// full, the consumer while it is empty, and closing the queue ends both.
//
//   bazel run //demos:queue
#include <cstdio>
#include <thread>

#include "sluice.h"

namespace {

absl::Status Main() {
  using namespace sluice;
  Graph g;
  Output number = Placeholder(g, DT_INT32, {}, "number");
  Queue queue = Queue::Fifo(g, 3, {DT_INT32}, {.shapes = {PartialShape::Scalar()}});
  Operation put = queue.Enqueue({number});
  Output square = Square(queue.Dequeue()[0]);
  Operation close = queue.Close();
  Session session(g);

  std::thread producer([&] {
    for (int i = 1; i <= 10; ++i) {
      if (!session.Run({{number, Tensor::Scalar<int32_t>(i)}}, {}, {put}).ok()) return;
    }
    session.Run({close}).IgnoreError();
  });
  absl::StatusOr<Tensors> got = session.Run({}, {square}, {});
  for (; got.ok(); got = session.Run({}, {square}, {})) {
    std::printf("%d\n", (*got)[0].scalar<int32_t>());
  }
  producer.join();
  // OUT_OF_RANGE: the queue is closed and empty, which is the end of the stream.
  return absl::IsOutOfRange(got.status()) ? absl::OkStatus() : got.status();
}

}  // namespace

int main() {
  const absl::Status status = Main();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
