#include "demos/models/model.h"

#include "graph/status.h"

namespace sluice::demos {

const std::vector<ModelKind>& ModelKinds() {
  static const auto* kinds = new std::vector<ModelKind>{
      {"softmax_regression", "one layer over pixels, gradient descent", SoftmaxRegression},
      {"mlp", "two hidden layers, dropout, weight decay, Adam", Mlp},
      {"lenet", "convolutions, pooling, momentum", LeNet},
      {"resnet20", "20 layers with shortcuts, batch normalisation, a falling rate", ResNet20},
      {"inception", "blocks of four branches, batch normalisation, RMSProp", Inception},
      {"char_lstm_static", "the next character, by an LSTM with peepholes unrolled in the graph",
       CharLstmStatic},
      {"char_lstm_dynamic", "the same in a loop: LSTM and GRU over sequences of different lengths",
       CharLstmDynamic},
      {"seq2seq_attention", "writes a sequence backwards: encoder, attention, decoder",
       Seq2SeqAttention},
      {"transformer", "the next character, by masked attention", Transformer},
      {"word2vec_nce", "word vectors by noise-contrastive estimation", Word2VecNce},
      {"word2vec_sampled_softmax", "word vectors by a sampled softmax", Word2VecSampledSoftmax},
      {"matrix_factorisation", "ratings of users and items, sparse Adagrad", MatrixFactorisation},
      {"wide_and_deep", "clicks: hashed features, FTRL and Adagrad", WideAndDeep},
      {"deepfm", "clicks: a factorisation machine and a network over the same tables", DeepFm},
      {"vae", "variational autoencoder of images", Vae},
      {"dcgan", "generator and discriminator with an optimizer each", DcGan},
  };
  return *kinds;
}

absl::StatusOr<Operation> MinimizeClipped(Optimizer& optimizer, Output loss, float norm) {
  SLUICE_ASSIGN_OR_RETURN(GradientsAndVariables pairs, optimizer.ComputeGradients(loss));
  ClipByGlobalNorm(pairs, norm);
  return optimizer.ApplyGradients(pairs);
}

}  // namespace sluice::demos
