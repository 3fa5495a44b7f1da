// The two ops of TensorFlow's first word2vec tutorial, which graph version 19 removed.
#include "ops/op.h"

namespace sluice {
namespace {

OP(NegTrain,
   "Computes one step of negative sampling. Rows of w_in and w_out move along the gradients of log "
   "sigmoid(w_in[example] w_out[label]) and of num_negative_samples labels with probabilities "
   "proportional to vocab_count^0.75.")
    .RefInput("w_in", DT_FLOAT)
    .RefInput("w_out", DT_FLOAT)
    .Input("examples", DT_INT32)
    .Input("labels", DT_INT32)
    .Input("lr", DT_FLOAT)
    .Attr("vocab_count", IntListAttr())
    .Attr("num_negative_samples", IntAttr())
    .Stateful()
    .Deprecated(19,
                "Moving word2vec into tensorflow_models/tutorials and deprecating its ops here "
                "as a result")
    .Shape(NoOutputs());

OP(Skipgram,
   "Returns pairs of neighbouring words of a text file: a batch of words and of their neighbours, "
   "as indices in vocab_word. The vocabulary begins with UNK, followed by the most frequent words.")
    .Output("vocab_word", DT_STRING)
    .Output("vocab_freq", DT_INT32)
    .Output("words_per_epoch", DT_INT64)
    .Output("current_epoch", DT_INT32)
    .Output("total_words_processed", DT_INT64)
    .Output("examples", DT_INT32)
    .Output("labels", DT_INT32)
    .Attr("filename", StringAttr())
    .Attr("batch_size", IntAttr())
    .Attr("window_size", IntAttr(5))
    .Attr("min_count", IntAttr(5))
    .Attr("subsample", FloatAttr(0.001f))
    .Stateful()
    .Deprecated(19,
                "Moving word2vec into tensorflow_models/tutorials and deprecating its ops here "
                "as a result")
    .Shape([](ShapeContext& c) -> absl::Status {
      const int64_t batch = c.attr<int64_t>("batch_size");
      c.SetOutput(0, {-1}).IgnoreError();
      c.SetOutput(1, {-1}).IgnoreError();
      for (int i = 2; i < 5; ++i) c.SetOutput(i, PartialShape::Scalar()).IgnoreError();
      c.SetOutput(5, {batch}).IgnoreError();
      return c.SetOutput(6, {batch});
    });

}  // namespace
}  // namespace sluice
