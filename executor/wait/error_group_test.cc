#include "executor/wait/error_group.h"

#include <initializer_list>
#include <string>

#include "absl/strings/cord.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using testing::SizeIs;

ErrorGroup Of(std::initializer_list<absl::Status> errors) {
  ErrorGroup group;
  for (const absl::Status& error : errors) group.Add(error);
  return group;
}

TEST(ErrorGroup, IsOkWithoutErrors) {
  const ErrorGroup group = Of({absl::OkStatus()});
  EXPECT_TRUE(group.ok());
  EXPECT_EQ(group.Summary(), absl::OkStatus());
  EXPECT_EQ(group.Concatenation(), absl::OkStatus());
}

TEST(ErrorGroup, IsTheRootErrorIfThereIsOne) {
  const ErrorGroup group =
      Of({DerivedError(absl::InternalError("received")), absl::DataLossError("root"),
          absl::DataLossError("root"), DerivedError(absl::CancelledError("stopped"))});
  EXPECT_EQ(group.num_roots(), 1);
  EXPECT_EQ(group.Summary(), absl::DataLossError("root"));
  EXPECT_EQ(group.Concatenation(), absl::DataLossError("root"));
}

// The texts are those of TensorFlow 2.21 for two devices of a task and a third one that waits.
TEST(ErrorGroup, SummarizesTheErrorsOfDevicesAsTensorFlowDoes) {
  const ErrorGroup group =
      Of({absl::InvalidArgumentError("bad_a : Tensor had Inf values"),
          DerivedError(absl::CancelledError("Dequeue operation was cancelled")),
          absl::InvalidArgumentError("indices[0] = 7 is not in [0, 2)")});
  EXPECT_EQ(group.Summary(),
            absl::InvalidArgumentError("2 root error(s) found.\n"
                                       "  (0) INVALID_ARGUMENT: indices[0] = 7 is not in [0, 2)\n"
                                       "  (1) INVALID_ARGUMENT: bad_a : Tensor had Inf values\n"
                                       "1 derived errors ignored."));
}

TEST(ErrorGroup, ConcatenatesTheErrorsOfTasksAsTensorFlowDoes) {
  const ErrorGroup group =
      Of({absl::FailedPreconditionError("From /job:ps/replica:0/task:0:\nu"),
          absl::InvalidArgumentError("From /job:worker/replica:0/task:0:\na")});
  EXPECT_EQ(group.Concatenation(),
            absl::InvalidArgumentError("\n=====================\n"
                                       "INVALID_ARGUMENT: From /job:worker/replica:0/task:0:\na\n"
                                       "FAILED_PRECONDITION: From /job:ps/replica:0/task:0:\nu\n"
                                       "=====================\n"));
}

TEST(ErrorGroup, CancelledIsTheCodeOfASummaryOnlyIfNothingElseFailed) {
  EXPECT_EQ(Of({absl::CancelledError("closed"), absl::AbortedError("lost")}).Summary().code(),
            absl::StatusCode::kAborted);
  EXPECT_EQ(Of({absl::CancelledError("closed"), absl::CancelledError("shut")}).Summary().code(),
            absl::StatusCode::kCancelled);
}

TEST(ErrorGroup, WithoutARootErrorItIsADerivedOne) {
  const ErrorGroup group = Of({DerivedError(absl::CancelledError("stopped")),
                               DerivedError(absl::UnavailableError("down"))});
  EXPECT_EQ(group.Summary().message(), "down");
  EXPECT_TRUE(IsDerived(group.Summary()));
  EXPECT_EQ(group.Concatenation(), absl::UnavailableError("down"));
}

TEST(ErrorGroup, KeepsWhatIsAttachedToRootErrorsAndLimitsTheMessage) {
  absl::Status first = absl::DataLossError(std::string(10000, 'x'));
  first.SetPayload("hint", absl::Cord("v"));
  const absl::Status status = Of({absl::InternalError("other"), first}).Summary();
  EXPECT_TRUE(status.GetPayload("hint").has_value());
  EXPECT_THAT(status.message(), SizeIs(8 * 1024));
}

}  // namespace
}  // namespace sluice
