// Recurrent models over characters.
#include <memory>

#include "demos/models/data.h"
#include "demos/models/model.h"
#include "graph/status.h"
#include "training/layers/dense.h"
#include "training/layers/losses.h"
#include "training/layers/rnn.h"

namespace sluice::demos {
namespace {

constexpr int64_t kSequenceBatch = 8;

// Rows [begin, begin + count) of dimension 1, as a new tensor.
Tensor Columns(const Tensor& pieces, int64_t begin, int64_t count) {
  Tensor part(DT_INT32, {pieces.dim(0), count});
  for (int64_t i = 0; i < pieces.dim(0); ++i) {
    for (int64_t j = 0; j < count; ++j) {
      part.data<int32_t>()[i * count + j] = pieces.data<int32_t>()[i * pieces.dim(1) + begin + j];
    }
  }
  return part;
}

Output CrossEntropy(Output labels, Output logits) {
  const int64_t classes =
      logits.shape().rank_known() ? logits.shape().dim(-1 + logits.shape().rank()) : -1;
  const Output rows = Reshape(logits, {-1, classes});
  const Output cross = SparseSoftmaxCrossEntropyWithLogits(rows, Reshape(labels, {-1})).loss;
  return Reshape(cross, {kSequenceBatch, -1});
}

}  // namespace

absl::StatusOr<Model> CharLstmStatic(Graph& g) {
  constexpr int64_t kLength = 10, kUnits = 24;
  SLUICE_ASSIGN_OR_RETURN(const std::vector<int32_t> text, LicenceCharacters());
  Seeds seeds;
  const Output ids = Placeholder(g, DT_INT32, {kSequenceBatch, kLength}, "ids");
  const Output next = Placeholder(g, DT_INT32, {kSequenceBatch, kLength}, "next_ids");
  layers::LstmCell cell(kUnits, {.use_peepholes = true, .kernel_initializer = seeds.Glorot()});
  const OutputList steps = Unstack(OneHot(ids, kCharacters), 1);
  const layers::StaticRnnResult rnn = layers::StaticRnn(cell, steps);
  const Output net = Reshape(Stack(rnn.outputs, 1), {-1, kUnits});
  const Output logits = layers::Dense(kCharacters, {.kernel_initializer = seeds.Glorot()})(net);
  const Output loss = losses::SparseSoftmaxCrossEntropy(Reshape(next, {-1}), logits);
  Adagrad optimizer({.learning_rate = 0.1f});
  SLUICE_ASSIGN_OR_RETURN(const Operation train, MinimizeClipped(optimizer, loss, 1.0f));
  if (!g.status().ok()) return g.status();
  return Model{{loss}, train, [=](int64_t step) -> Batch {
                 const Tensor pieces = Pieces(text, step, kSequenceBatch, kLength + 1);
                 return {{ids, Columns(pieces, 0, kLength)}, {next, Columns(pieces, 1, kLength)}};
               }};
}

absl::StatusOr<Model> CharLstmDynamic(Graph& g) {
  constexpr int64_t kLength = 12;
  SLUICE_ASSIGN_OR_RETURN(const std::vector<int32_t> text, LicenceCharacters());
  Seeds seeds;
  const Output ids = Placeholder(g, DT_INT32, {kSequenceBatch, kLength}, "ids");
  const Output next = Placeholder(g, DT_INT32, {kSequenceBatch, kLength}, "next_ids");
  const Output lengths = Placeholder(g, DT_INT32, {kSequenceBatch}, "lengths");
  Variable table(g, "embedding", {kCharacters, 16}, seeds.Uniform(0.1));
  auto gru = std::make_shared<layers::GruCell>(
      20, layers::GruCellOptions{.kernel_initializer = seeds.Glorot()});
  auto lstm = std::make_shared<layers::LstmCell>(
      20, layers::LstmCellOptions{.kernel_initializer = seeds.Glorot(), .name = "basic_lstm_cell"});
  layers::MultiRnnCell cells({lstm, gru});
  const layers::DynamicRnnResult rnn =
      layers::DynamicRnn(cells, Gather(table, ids), {.sequence_length = lengths});
  const Output logits =
      layers::Dense(kCharacters, {.kernel_initializer = seeds.Glorot()})(rnn.outputs);
  const Output loss = losses::Weighted(CrossEntropy(next, logits),
                                       {.weights = layers::SequenceMask(lengths, kLength)});
  Adam optimizer({.learning_rate = 0.005f});
  SLUICE_ASSIGN_OR_RETURN(const Operation train, MinimizeClipped(optimizer, loss, 1.0f));
  if (!g.status().ok()) return g.status();
  return Model{{loss}, train, [=](int64_t step) -> Batch {
                 const Tensor pieces = Pieces(text, step, kSequenceBatch, kLength + 1);
                 return {{ids, Columns(pieces, 0, kLength)},
                         {next, Columns(pieces, 1, kLength)},
                         {lengths, Lengths(step, kSequenceBatch, 3, kLength)}};
               }};
}

namespace {

// A GRU with additive attention (Bahdanau et al. 2014). The attention result of a memory [batch,
// positions, size] is appended to the input. Positions are masked by a number that is added to
// their score.
class AttentionCell : public layers::RnnCell {
 public:
  AttentionCell(int64_t units, Output memory, Output mask, Seeds& seeds)
      : units_(units),
        memory_(memory),
        mask_(mask),
        gru_(units, {.kernel_initializer = seeds.Glorot()}),
        query_(units, {.kernel_initializer = seeds.Glorot(), .name = "query"}),
        score_initializer_(seeds.Glorot()) {
    keys_ = layers::Dense(
        units, {.use_bias = false, .kernel_initializer = seeds.Glorot(), .name = "keys"})(memory);
  }

  std::string name() const override { return "attention_cell"; }
  std::vector<int64_t> state_sizes() const override { return {units_}; }
  int64_t output_size() const override { return 2 * units_; }

  void Build(Graph& g, int64_t size, DataType dtype, At at) override {
    if (score_) return;
    query_.Build(g, units_, dtype, at);
    score_ = Variable(g, "score", {units_}, score_initializer_, {}, at);
    NameScope scope = layers::SameScope(g, gru_.name());
    gru_.Build(g, size + units_, dtype, at);
  }

  layers::RnnStep Step(Output input, const OutputList& state, At at) override {
    const Output wanted = ExpandDims(query_(state[0], at), 1);
    const Output scores = ReduceSum(score_ * Tanh(keys_ + wanted), 2) + mask_;
    const Output weights = ExpandDims(Softmax(scores), 2);
    const Output context = ReduceSum(weights * memory_, 1);
    NameScope scope = layers::SameScope(*input.graph(), gru_.name());
    const layers::RnnStep step = gru_.Step(Concat({input, context}, 1), state, at);
    return {Concat({step.output, context}, 1), step.state};
  }

 private:
  int64_t units_;
  Output memory_, mask_, keys_;
  layers::GruCell gru_;
  layers::Dense query_;
  Initializer score_initializer_;
  Variable score_;
};

}  // namespace

// Sequence to sequence (Sutskever et al. 2014, Bahdanau et al. 2014): reverses a sequence.
absl::StatusOr<Model> Seq2SeqAttention(Graph& g) {
  constexpr int64_t kLength = 9, kUnits = 12;
  SLUICE_ASSIGN_OR_RETURN(const std::vector<int32_t> text, LicenceCharacters());
  Seeds seeds;
  const Output ids = Placeholder(g, DT_INT32, {kSequenceBatch, kLength}, "ids");
  const Output lengths = Placeholder(g, DT_INT32, {kSequenceBatch}, "lengths");
  Variable table(g, "embedding", {kCharacters, 12}, seeds.Uniform(0.1));
  layers::GruCell forward(kUnits, {.kernel_initializer = seeds.Glorot()});
  layers::GruCell backward(kUnits, {.kernel_initializer = seeds.Glorot()});
  const auto encoder =
      layers::BidirectionalDynamicRnn(forward, backward, Gather(table, ids), lengths);
  if (!g.status().ok()) return g.status();
  const Output memory = Concat({encoder.forward.outputs, encoder.backward.outputs}, 2);
  const Output is_there = layers::SequenceMask(lengths, kLength);
  const Output target = ReverseSequence(ids, lengths, 1);
  const Output start = Zeros(g, {kSequenceBatch, 1}, DT_INT32);
  const Output fed = Concat({start, Slice(target, {0, 0}, {-1, kLength - 1})}, 1);
  AttentionCell cell(2 * kUnits, memory, 1e9f * (is_there - 1.0f), seeds);
  const Output state = Concat({encoder.forward.state[0], encoder.backward.state[0]}, 1);
  const layers::DynamicRnnResult decoder =
      layers::DynamicRnn(cell, Gather(table, fed),
                         {.sequence_length = lengths, .initial_state = {state}, .name = "decoder"});
  const Output logits =
      layers::Dense(kCharacters, {.kernel_initializer = seeds.Glorot()})(decoder.outputs);
  const Output loss = losses::Weighted(CrossEntropy(target, logits), {.weights = is_there});
  Adam optimizer({.learning_rate = 0.01f});
  SLUICE_ASSIGN_OR_RETURN(const Operation train, MinimizeClipped(optimizer, loss, 1.0f));
  if (!g.status().ok()) return g.status();
  return Model{{loss}, train, [=](int64_t step) -> Batch {
                 return {{ids, Pieces(text, step, kSequenceBatch, kLength)},
                         {lengths, Lengths(step, kSequenceBatch, 4, kLength)}};
               }};
}

}  // namespace sluice::demos
