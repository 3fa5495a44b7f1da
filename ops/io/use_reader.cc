// Records out of readers, and their state.
#include "ops/op.h"

namespace sluice {
namespace {

OP(ReaderRead, "ReaderReadV2 for a reader behind a vector of two strings.")
    .RefInput("reader_handle", DT_STRING)
    .RefInput("queue_handle", DT_STRING)
    .Output("key", DT_STRING)
    .Output("value", DT_STRING)
    .NotDifferentiable()
    .Shape(ScalarOutput());

OP(ReaderReadV2,
   "The next record of a reader; takes a file name from the queue where one is needed, and waits "
   "there.")
    .Input("reader_handle", DT_RESOURCE)
    .Input("queue_handle", DT_RESOURCE)
    .Output("key", DT_STRING)
    .Output("value", DT_STRING)
    .Stateful()
    .Shape(ScalarOutput());

OP(ReaderReadUpTo, "ReaderReadUpToV2 for a reader behind a vector of two strings.")
    .RefInput("reader_handle", DT_STRING)
    .RefInput("queue_handle", DT_STRING)
    .Input("num_records", DT_INT64)
    .Output("keys", DT_STRING)
    .Output("values", DT_STRING)
    .NotDifferentiable()
    .Shape([](ShapeContext& c) {
      SLUICE_RETURN_IF_ERROR(c.WithRank(2, 0).status());
      return c.SetOutputs(PartialShape::Vector());
    });

OP(ReaderReadUpToV2, "At least one record and at most `num_records`: fewer where a file ends.")
    .Input("reader_handle", DT_RESOURCE)
    .Input("queue_handle", DT_RESOURCE)
    .Input("num_records", DT_INT64)
    .Output("keys", DT_STRING)
    .Output("values", DT_STRING)
    .Stateful()
    .Shape([](ShapeContext& c) {
      SLUICE_RETURN_IF_ERROR(c.WithRank(2, 0).status());
      return c.SetOutputs(PartialShape::Vector());
    });

OP(ReaderNumRecordsProduced,
   "ReaderNumRecordsProducedV2 for a reader behind a vector of two strings.")
    .RefInput("reader_handle", DT_STRING)
    .Output("records_produced", DT_INT64)
    .NotDifferentiable()
    .Shape(ScalarOutput());

OP(ReaderNumRecordsProducedV2, "How many records the reader has given out.")
    .Input("reader_handle", DT_RESOURCE)
    .Output("records_produced", DT_INT64)
    .Stateful()
    .Shape(ScalarOutput());

OP(ReaderNumWorkUnitsCompleted,
   "ReaderNumWorkUnitsCompletedV2 for a reader behind a vector of two strings.")
    .RefInput("reader_handle", DT_STRING)
    .Output("units_completed", DT_INT64)
    .NotDifferentiable()
    .Shape(ScalarOutput());

OP(ReaderNumWorkUnitsCompletedV2, "How many files the reader has read to the end.")
    .Input("reader_handle", DT_RESOURCE)
    .Output("units_completed", DT_INT64)
    .Stateful()
    .Shape(ScalarOutput());

OP(ReaderReset, "ReaderResetV2 for a reader behind a vector of two strings.")
    .RefInput("reader_handle", DT_STRING)
    .NotDifferentiable()
    .Shape(NoOutputs());

OP(ReaderResetV2, "Puts the reader back to its first state; the file at hand is dropped.")
    .Input("reader_handle", DT_RESOURCE)
    .Stateful()
    .Shape(NoOutputs());

OP(ReaderSerializeState, "ReaderSerializeStateV2 for a reader behind a vector of two strings.")
    .RefInput("reader_handle", DT_STRING)
    .Output("state", DT_STRING)
    .NotDifferentiable()
    .Shape(ScalarOutput());

OP(ReaderSerializeStateV2,
   "The state of a reader as a string, for readers that have one (IdentityReader, "
   "WholeFileReader).")
    .Input("reader_handle", DT_RESOURCE)
    .Output("state", DT_STRING)
    .Stateful()
    .Shape(ScalarOutput());

OP(ReaderRestoreState, "ReaderRestoreStateV2 for a reader behind a vector of two strings.")
    .RefInput("reader_handle", DT_STRING)
    .Input("state", DT_STRING)
    .NotDifferentiable()
    .Shape([](ShapeContext& c) { return c.WithRank(1, 0).status(); });

OP(ReaderRestoreStateV2, "Puts a reader into a state from ReaderSerializeState.")
    .Input("reader_handle", DT_RESOURCE)
    .Input("state", DT_STRING)
    .Stateful()
    .Shape([](ShapeContext& c) { return c.WithRank(1, 0).status(); });

}  // namespace
}  // namespace sluice
