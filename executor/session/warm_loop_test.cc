// Tests that a step that has run before allocates nothing for the frames and iterations of its
// loops, whatever their number.
#include <gtest/gtest.h>

#include "executor/session/session.h"
#include "executor/testing/allocations.h"
#include "executor/testing/test_ops.h"

namespace sluice {
namespace {

using namespace testing;  // NOLINT: the ops of test_ops.h

// Allocations of one warm step that counts to `n`.
int64_t AllocationsOfALoop(float n, bool dynamic_loops) {
  Graph g;
  const Output limit_in = Placeholder(g, DT_FLOAT, {}, "n");
  const Output limit = Enter(limit_in, "loop", /*constant=*/true);
  const Output one = Enter(Const(g, 1), "loop", true);
  const OutputList out = WhileLoop(
      "loop", {Const(g, 0)}, [&](const OutputList& v) { return OutputList{Less(v[0], limit)}; },
      [&](const OutputList& v) { return OutputList{Add(v[0], one)}; });
  SessionOptions options;
  options.dynamic_loops = dynamic_loops;
  options.inter_op_threads = options.intra_op_threads = 1;
  Session session(g, options);
  absl::StatusOr<Callable> callable = session.MakeCallable({limit_in}, {out[0]}, {});
  EXPECT_TRUE(callable.ok()) << callable.status();
  const Tensor feeds[] = {Tensor::Scalar(n)};
  Tensors fetches;
  int64_t before = 0;
  for (int i = 0; i < 4; ++i) {
    before = Allocations();
    EXPECT_TRUE(callable->RunInto(feeds, &fetches).ok());
  }
  EXPECT_GT(before, 0) << "they are not counted";
  const int64_t allocated = Allocations() - before;
  EXPECT_EQ(fetches[0].scalar<float>(), n);
  return allocated;
}

TEST(WarmLoopTest, IterationsAllocateNothing) {
  EXPECT_EQ(AllocationsOfALoop(1000, /*dynamic_loops=*/true), 0);
  EXPECT_EQ(AllocationsOfALoop(1000, /*dynamic_loops=*/false), 0);
}

}  // namespace
}  // namespace sluice
