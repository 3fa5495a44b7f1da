// Ops that read records from readers, and ops on the state of readers.
#include "ops/op.h"

namespace sluice {
namespace {

void UsesRefReader(OpDefBuilder& op) {
  op.RefInput("reader_handle", DT_STRING).NotDifferentiable();
}

void UsesReader(OpDefBuilder& op) { op.Input("reader_handle", DT_RESOURCE).Stateful(); }

void ReadsRecord(OpDefBuilder& op) {
  op.Output("key", DT_STRING).Output("value", DT_STRING).Shape(ScalarOutput());
}

void ReadsRecords(OpDefBuilder& op) {
  op.Input("num_records", DT_INT64)
      .Output("keys", DT_STRING)
      .Output("values", DT_STRING)
      .Shape([](ShapeContext& c) {
        SLUICE_RETURN_IF_ERROR(c.WithRank(2, 0).status());
        return c.SetOutputs(PartialShape::Vector());
      });
}

absl::Status ScalarState(ShapeContext& c) { return c.WithRank(1, 0).status(); }

OP(ReaderRead, "ReaderReadV2 with reference handles.")
    .With(UsesRefReader)
    .RefInput("queue_handle", DT_STRING)
    .With(ReadsRecord);

OP(ReaderReadV2,
   "Reads the next record. Dequeues a file name, and waits for it, when the last file has ended.")
    .With(UsesReader)
    .Input("queue_handle", DT_RESOURCE)
    .With(ReadsRecord);

OP(ReaderReadUpTo, "ReaderReadUpToV2 with reference handles.")
    .With(UsesRefReader)
    .RefInput("queue_handle", DT_STRING)
    .With(ReadsRecords);

OP(ReaderReadUpToV2, "Reads up to `num_records` records, but at least one. Fewer if the file ends.")
    .With(UsesReader)
    .Input("queue_handle", DT_RESOURCE)
    .With(ReadsRecords);

OP(ReaderNumRecordsProduced, "ReaderNumRecordsProducedV2 with a reference handle.")
    .With(UsesRefReader)
    .Output("records_produced", DT_INT64)
    .Shape(ScalarOutput());

OP(ReaderNumRecordsProducedV2, "Returns the number of records that the reader has read.")
    .With(UsesReader)
    .Output("records_produced", DT_INT64)
    .Shape(ScalarOutput());

OP(ReaderNumWorkUnitsCompleted, "ReaderNumWorkUnitsCompletedV2 with a reference handle.")
    .With(UsesRefReader)
    .Output("units_completed", DT_INT64)
    .Shape(ScalarOutput());

OP(ReaderNumWorkUnitsCompletedV2, "Returns the number of files that the reader has finished.")
    .With(UsesReader)
    .Output("units_completed", DT_INT64)
    .Shape(ScalarOutput());

OP(ReaderReset, "ReaderResetV2 with a reference handle.").With(UsesRefReader).Shape(NoOutputs());

OP(ReaderResetV2, "Resets the reader to its initial state and drops the current file.")
    .With(UsesReader)
    .Shape(NoOutputs());

OP(ReaderSerializeState, "ReaderSerializeStateV2 with a reference handle.")
    .With(UsesRefReader)
    .Output("state", DT_STRING)
    .Shape(ScalarOutput());

OP(ReaderSerializeStateV2,
   "Serialises the state of a reader that supports it (IdentityReader, WholeFileReader).")
    .With(UsesReader)
    .Output("state", DT_STRING)
    .Shape(ScalarOutput());

OP(ReaderRestoreState, "ReaderRestoreStateV2 with a reference handle.")
    .With(UsesRefReader)
    .Input("state", DT_STRING)
    .Shape(ScalarState);

OP(ReaderRestoreStateV2, "Restores a state from ReaderSerializeState.")
    .With(UsesReader)
    .Input("state", DT_STRING)
    .Shape(ScalarState);

}  // namespace
}  // namespace sluice
