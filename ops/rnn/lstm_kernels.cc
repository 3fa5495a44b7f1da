#include <cmath>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/tensor/sizes.h"
#include "ops/matmul/gemm.h"

namespace sluice {
namespace {

// Converts a half tensor to float, and uses a float tensor directly. data() is valid as long as
// this object exists.
class Floats {
 public:
  absl::Status Read(KernelContext& c, const Tensor& t) {
    tensor_ = t;
    if (t.dtype() == DT_FLOAT) return absl::OkStatus();
    SLUICE_ASSIGN_OR_RETURN(tensor_, c.AllocateTemp(DT_FLOAT, t.shape()));
    for (int64_t i = 0; i < t.num_elements(); ++i) tensor_.data<float>()[i] = t.data<half>()[i];
    return absl::OkStatus();
  }
  const float* data() const { return const_cast<const Tensor&>(tensor_).data<float>(); }

 private:
  Tensor tensor_;
};

// An output to which kernels write floats. Open fills it with zeros. Close converts it to the
// node's type.
class FloatOutput {
 public:
  absl::Status Open(KernelContext& c, int i, const TensorShape& shape) {
    SLUICE_ASSIGN_OR_RETURN(out_, c.AllocateOutput(i, shape));
    if (out_->dtype() == DT_FLOAT) {
      data_ = out_->data<float>();
    } else {
      SLUICE_ASSIGN_OR_RETURN(copy_, c.AllocateTemp(DT_FLOAT, shape));
      data_ = copy_.data<float>();
    }
    std::fill_n(data_, out_->num_elements(), 0.0f);
    return absl::OkStatus();
  }
  float* data() { return data_; }
  void Close() {
    if (!copy_.IsInitialized()) return;
    for (int64_t i = 0; i < out_->num_elements(); ++i) out_->data<half>()[i] = half(data_[i]);
  }

 private:
  Tensor* out_ = nullptr;
  Tensor copy_;
  float* data_ = nullptr;
};

float Sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

// The sizes of an LSTM, and the positions of the gates among the 4 * cell columns.
struct Lstm {
  int64_t batch = 0, inputs = 0, cell = 0;
  int i = 0, ci = 1, f = 2, o = 3;
  float forget_bias = 0, clip = 0;
  bool peephole = false;

  int64_t step() const { return batch * cell; }
  // Saturates, because the sizes are used before the shape of the weights is checked against them.
  int64_t xh_columns() const { return SaturatedSum(inputs, cell); }
  int64_t gates() const { return SaturatedProduct(4, cell); }
};

// The inputs and outputs of a step. Each has shape [batch, cell], except x.
struct LstmStep {
  const float *x, *cs_prev, *h_prev;
  float *i, *cs, *f, *o, *ci, *co, *h;
};
struct LstmWeights {
  Floats w, wci, wcf, wco, b;
};

// Concatenates x and h row by row.
void Join(const Lstm& l, const float* x, const float* h, float* xh) {
  for (int64_t r = 0; r < l.batch; ++r) {
    std::copy_n(x + r * l.inputs, l.inputs, xh + r * l.xh_columns());
    std::copy_n(h + r * l.cell, l.cell, xh + r * l.xh_columns() + l.inputs);
  }
}

void Forward(const Lstm& l, const LstmWeights& w, const LstmStep& s, float* xh, float* gates) {
  const int64_t n = 4 * l.cell;
  Join(l, s.x, s.h_prev, xh);
  Gemm<float>(l.batch, n, l.xh_columns(), {xh, l.xh_columns(), 1}, {w.w.data(), n, 1}, gates, n);
  for (int64_t at = 0; at < l.step(); ++at) {
    const int64_t k = at % l.cell;
    const float* g = gates + at / l.cell * n + k;
    auto gate = [&](int which) { return g[which * l.cell] + w.b.data()[which * l.cell + k]; };
    const float before = s.cs_prev[at];
    const float pi = l.peephole ? w.wci.data()[k] * before : 0;
    const float pf = l.peephole ? w.wcf.data()[k] * before : 0;
    s.i[at] = Sigmoid(gate(l.i) + pi);
    s.ci[at] = std::tanh(gate(l.ci));
    s.f[at] = Sigmoid(gate(l.f) + l.forget_bias + pf);
    float cs = s.ci[at] * s.i[at] + before * s.f[at];
    if (l.clip > 0) cs = std::min(std::max(cs, -l.clip), l.clip);
    s.cs[at] = cs;
    const float po = l.peephole ? w.wco.data()[k] * cs : 0;
    s.o[at] = Sigmoid(gate(l.o) + po);
    s.co[at] = std::tanh(cs);
    s.h[at] = s.o[at] * s.co[at];
  }
}

struct LstmBack {
  const float *cs_prev, *i, *cs, *f, *o, *ci, *co, *cs_grad, *h_grad;
  float *cs_prev_grad, *gates, *wci_grad, *wcf_grad, *wco_grad;
};

// Computes the gradients of one step with respect to cs_prev and the arguments of the gates. Adds
// the gradients of the peepholes.
void Backward(const Lstm& l, const LstmWeights& w, const LstmBack& s) {
  for (int64_t at = 0; at < l.step(); ++at) {
    const int64_t k = at % l.cell;
    float* g = s.gates + at / l.cell * 4 * l.cell + k;
    const float d_o = s.o[at] * (1 - s.o[at]) * s.h_grad[at] * s.co[at];
    float dcs = (1 - s.co[at] * s.co[at]) * s.h_grad[at] * s.o[at] + s.cs_grad[at];
    if (l.peephole) dcs += d_o * w.wco.data()[k];
    const float dci = (1 - s.ci[at] * s.ci[at]) * dcs * s.i[at];
    const float df = s.f[at] * (1 - s.f[at]) * dcs * s.cs_prev[at];
    const float di = s.i[at] * (1 - s.i[at]) * dcs * s.ci[at];
    g[l.i * l.cell] = di;
    g[l.ci * l.cell] = dci;
    g[l.f * l.cell] = df;
    g[l.o * l.cell] = d_o;
    float before = dcs * s.f[at];
    if (l.peephole) {
      before += di * w.wci.data()[k] + df * w.wcf.data()[k];
      s.wci_grad[k] += di * s.cs_prev[at];
      s.wcf_grad[k] += df * s.cs_prev[at];
      s.wco_grad[k] += d_o * s.cs[at];
    }
    s.cs_prev_grad[at] = before;
  }
}

absl::Status CheckShape(const Tensor& t, const char* name, const TensorShape& expected) {
  if (t.shape() == expected) return absl::OkStatus();
  return InvalidArgument(name, ": expected shape ", expected.ToString(), ", got ",
                         t.shape().ToString());
}

// Reads the inputs from `first` on: x, cs_prev, h_prev, w, wci, wcf, wco and b.
absl::Status ReadCell(KernelContext& c, int first, Lstm* l, LstmWeights* w) {
  const Tensor &x = c.input(first), &cs_prev = c.input(first + 1);
  const int x_rank = first == 0 ? 2 : 3;
  SLUICE_INVALID_IF(x.rank() != x_rank, "x must be ", x_rank, "D, got shape ",
                    x.shape().ToString());
  SLUICE_RETURN_IF_ERROR(ExpectRank(cs_prev, 2, "cs_prev must be 2D, got shape "));
  l->batch = x.dim(x_rank - 2);
  l->inputs = x.dim(x_rank - 1);
  l->cell = cs_prev.dim(1);
  const TensorShape state({l->batch, l->cell});
  SLUICE_RETURN_IF_ERROR(CheckShape(cs_prev, "cs_prev", state));
  SLUICE_RETURN_IF_ERROR(CheckShape(c.input(first + 2), "h_prev", state));
  SLUICE_RETURN_IF_ERROR(CheckShape(c.input(first + 3), "w", {l->xh_columns(), l->gates()}));
  static constexpr const char* kPeepholes[] = {"wci", "wcf", "wco"};
  for (int k = 0; k < 3; ++k) {
    const Tensor& t = c.input(first + 4 + k);
    SLUICE_INVALID_IF(t.rank() != 1, kPeepholes[k], " must be rank 1 but is rank ", t.rank());
    if (l->peephole) SLUICE_RETURN_IF_ERROR(CheckShape(t, kPeepholes[k], {l->cell}));
  }
  SLUICE_RETURN_IF_ERROR(CheckShape(c.input(first + 7), "b", {l->gates()}));
  Floats* parts[] = {&w->w, &w->wci, &w->wcf, &w->wco, &w->b};
  for (int k = 0; k < 5; ++k) SLUICE_RETURN_IF_ERROR(parts[k]->Read(c, c.input(first + 3 + k)));
  return absl::OkStatus();
}

Lstm SettingsOf(const KernelInit& init, bool v2) {
  Lstm l;
  if (v2) {
    l.f = 1;
    l.ci = 2;
  }
  l.forget_bias = init.AttrOr<float>("forget_bias", 0);
  l.clip = init.AttrOr<float>("cell_clip", 0);
  l.peephole = init.attr<bool>("use_peephole");
  return l;
}

absl::StatusOr<int64_t> StepsOf(KernelContext& c) {
  const Tensor &steps = c.input(0), &x = c.input(1);
  SLUICE_INVALID_IF(steps.rank() != 0, "seq_len_max must be rank 0 but is rank ", steps.rank());
  const int64_t n = steps.scalar<int64_t>();
  SLUICE_INVALID_IF(x.rank() == 3 && (n < 0 || n > x.dim(0)), "seq_len_max must be in [0, ",
                    x.dim(0), "], got ", n);
  return n;
}

// The forward kernel for one step (kFirst is 0), or for a sequence (kFirst is 1, because
// seq_len_max comes first).
template <int kFirst>
class LstmKernel : public Kernel {
 public:
  explicit LstmKernel(KernelInit& init)
      : settings_(SettingsOf(init, init.node().op() == "BlockLSTMV2")) {}

  absl::Status Compute(KernelContext& c) override {
    Lstm l = settings_;
    LstmWeights w;
    int64_t steps = 1;
    if (kFirst == 1) {
      SLUICE_ASSIGN_OR_RETURN(steps, StepsOf(c));
    }
    SLUICE_RETURN_IF_ERROR(ReadCell(c, kFirst, &l, &w));
    Floats x, cs_prev, h_prev;
    SLUICE_RETURN_IF_ERROR(x.Read(c, c.input(kFirst)));
    SLUICE_RETURN_IF_ERROR(cs_prev.Read(c, c.input(kFirst + 1)));
    SLUICE_RETURN_IF_ERROR(h_prev.Read(c, c.input(kFirst + 2)));
    TensorShape shape({l.batch, l.cell});
    if (kFirst == 1) shape.InsertDim(0, c.input(1).dim(0));
    FloatOutput outs[7];  // i, cs, f, o, ci, co, h
    for (int k = 0; k < 7; ++k) SLUICE_RETURN_IF_ERROR(outs[k].Open(c, k, shape));
    SLUICE_ASSIGN_OR_RETURN(Tensor xh, c.AllocateTemp(DT_FLOAT, {l.batch, l.xh_columns()}));
    SLUICE_ASSIGN_OR_RETURN(Tensor gates, c.AllocateTemp(DT_FLOAT, {l.batch, 4 * l.cell}));
    for (int64_t t = 0; t < steps && l.step() > 0; ++t) {
      const int64_t at = t * l.step();
      auto out = [&](int k) { return outs[k].data() + at; };
      const LstmStep s{x.data() + t * l.batch * l.inputs,
                       t == 0 ? cs_prev.data() : out(1) - l.step(),
                       t == 0 ? h_prev.data() : out(6) - l.step(),
                       out(0),
                       out(1),
                       out(2),
                       out(3),
                       out(4),
                       out(5),
                       out(6)};
      Forward(l, w, s, xh.data<float>(), gates.data<float>());
    }
    for (FloatOutput& out : outs) out.Close();
    return absl::OkStatus();
  }

 private:
  const Lstm settings_;
};
constexpr TypeSet kCellTypes = {DT_HALF, DT_FLOAT};
KERNEL(LSTMBlockCell, LstmKernel<0>, {"T", kCellTypes});
KERNEL(BlockLSTM, LstmKernel<1>, {"T", kCellTypes});
KERNEL(BlockLSTMV2, LstmKernel<1>, {"T", kCellTypes});

// The inputs are the inputs of the cell, followed by i, cs, f, o, ci, co, cs_grad and h_grad.
class LstmCellGradKernel : public Kernel {
 public:
  explicit LstmCellGradKernel(KernelInit& init) : settings_(SettingsOf(init, false)) {}

  absl::Status Compute(KernelContext& c) override {
    Lstm l = settings_;
    LstmWeights w;
    SLUICE_RETURN_IF_ERROR(ReadCell(c, 0, &l, &w));
    Floats cs_prev, in[8];
    SLUICE_RETURN_IF_ERROR(cs_prev.Read(c, c.input(1)));
    static constexpr const char* kNames[] = {"i", "cs", "f", "o", "ci", "co", "cs_grad", "h_grad"};
    for (int k = 0; k < 8; ++k) {
      SLUICE_RETURN_IF_ERROR(CheckShape(c.input(8 + k), kNames[k], {l.batch, l.cell}));
      SLUICE_RETURN_IF_ERROR(in[k].Read(c, c.input(8 + k)));
    }
    FloatOutput outs[5];
    SLUICE_RETURN_IF_ERROR(outs[0].Open(c, 0, {l.batch, l.cell}));
    SLUICE_RETURN_IF_ERROR(outs[1].Open(c, 1, {l.batch, 4 * l.cell}));
    for (int k = 0; k < 3; ++k) {
      SLUICE_RETURN_IF_ERROR(outs[2 + k].Open(c, 2 + k, c.input(4 + k).shape()));
    }
    Backward(l, w,
             {cs_prev.data(), in[0].data(), in[1].data(), in[2].data(), in[3].data(), in[4].data(),
              in[5].data(), in[6].data(), in[7].data(), outs[0].data(), outs[1].data(),
              outs[2].data(), outs[3].data(), outs[4].data()});
    for (FloatOutput& out : outs) out.Close();
    return absl::OkStatus();
  }

 private:
  const Lstm settings_;
};
KERNEL(LSTMBlockCellGrad, LstmCellGradKernel, {"T", kCellTypes});

// The inputs are the inputs of BlockLSTM, followed by its outputs, cs_grad and h_grad.
class BlockLstmGradKernel : public Kernel {
 public:
  explicit BlockLstmGradKernel(KernelInit& init)
      : settings_(SettingsOf(init, init.node().op() == "BlockLSTMGradV2")) {}

  absl::Status Compute(KernelContext& c) override {
    Lstm l = settings_;
    LstmWeights w;
    SLUICE_ASSIGN_OR_RETURN(const int64_t steps, StepsOf(c));
    SLUICE_RETURN_IF_ERROR(ReadCell(c, 1, &l, &w));
    const int64_t n = 4 * l.cell, columns = l.xh_columns();
    Floats x, cs_prev, h_prev, in[9];  // i, cs, f, o, ci, co, h, cs_grad, h_grad
    SLUICE_RETURN_IF_ERROR(x.Read(c, c.input(1)));
    SLUICE_RETURN_IF_ERROR(cs_prev.Read(c, c.input(2)));
    SLUICE_RETURN_IF_ERROR(h_prev.Read(c, c.input(3)));
    for (int k = 0; k < 9; ++k) {
      SLUICE_RETURN_IF_ERROR(CheckShape(c.input(9 + k), "a state or its gradient",
                                        {c.input(1).dim(0), l.batch, l.cell}));
      SLUICE_RETURN_IF_ERROR(in[k].Read(c, c.input(9 + k)));
    }
    FloatOutput outs[8];  // x, cs_prev, h_prev, w, wci, wcf, wco, b
    for (int k = 0; k < 8; ++k) SLUICE_RETURN_IF_ERROR(outs[k].Open(c, k, c.input(1 + k).shape()));
    auto scratch = [&](int64_t rows, int64_t size) {
      return c.AllocateTemp(DT_FLOAT, TensorShape({rows, size}));
    };
    SLUICE_ASSIGN_OR_RETURN(Tensor xh, scratch(l.batch, columns));
    SLUICE_ASSIGN_OR_RETURN(Tensor xh_grad, scratch(l.batch, columns));
    SLUICE_ASSIGN_OR_RETURN(Tensor gates, scratch(l.batch, n));
    SLUICE_ASSIGN_OR_RETURN(Tensor cs_grad, scratch(l.batch, l.cell));
    SLUICE_ASSIGN_OR_RETURN(Tensor h_grad, scratch(l.batch, l.cell));
    for (int64_t t = steps - 1; t >= 0 && l.step() > 0; --t) {
      const int64_t at = t * l.step();
      auto state = [&](int k) { return in[k].data() + at; };
      for (int64_t k = 0; k < l.step(); ++k) {
        cs_grad.data<float>()[k] = state(7)[k] + outs[1].data()[k];
        h_grad.data<float>()[k] = state(8)[k] + outs[2].data()[k];
      }
      const float* before_cs = t == 0 ? cs_prev.data() : state(1) - l.step();
      const float* before_h = t == 0 ? h_prev.data() : state(6) - l.step();
      Backward(l, w,
               {before_cs, state(0), state(1), state(2), state(3), state(4), state(5),
                cs_grad.data<float>(), h_grad.data<float>(), outs[1].data(), gates.data<float>(),
                outs[4].data(), outs[5].data(), outs[6].data()});
      Gemm<float>(l.batch, columns, n, {gates.data<float>(), n, 1}, {w.w.data(), 1, n},
                  xh_grad.data<float>(), columns);
      for (int64_t r = 0; r < l.batch; ++r) {
        const float* from = xh_grad.data<float>() + r * columns;
        std::copy_n(from, l.inputs, outs[0].data() + (t * l.batch + r) * l.inputs);
        std::copy_n(from + l.inputs, l.cell, outs[2].data() + r * l.cell);
      }
      Join(l, x.data() + t * l.batch * l.inputs, before_h, xh.data<float>());
      Gemm<float>(columns, n, l.batch, {xh.data<float>(), 1, columns}, {gates.data<float>(), n, 1},
                  outs[3].data(), n, GemmInto::kAdd);
      for (int64_t k = 0; k < l.batch * n; ++k) outs[7].data()[k % n] += gates.data<float>()[k];
    }
    for (FloatOutput& out : outs) out.Close();
    return absl::OkStatus();
  }

 private:
  const Lstm settings_;
};
KERNEL(BlockLSTMGrad, BlockLstmGradKernel, {"T", kCellTypes});
KERNEL(BlockLSTMGradV2, BlockLstmGradKernel, {"T", kCellTypes});

struct Gru {
  int64_t batch, inputs, cell;
  int64_t columns() const { return SaturatedSum(inputs, cell); }
  int64_t gates() const { return SaturatedProduct(2, cell); }
};

// Reads the inputs x, h_prev, w_ru, w_c, b_ru and b_c. The gradient op also has r, u, c and d_h.
absl::StatusOr<Gru> ReadGru(KernelContext& c) {
  SLUICE_INVALID_IF(c.input(0).rank() != 2 || c.input(1).rank() != 2,
                    "x and h_prev must be 2D, got shapes ", c.input(0).shape().ToString(), " and ",
                    c.input(1).shape().ToString());
  const Gru g{c.input(0).dim(0), c.input(0).dim(1), c.input(1).dim(1)};
  SLUICE_RETURN_IF_ERROR(CheckShape(c.input(1), "h_prev", {g.batch, g.cell}));
  SLUICE_RETURN_IF_ERROR(CheckShape(c.input(2), "w_ru", {g.columns(), g.gates()}));
  SLUICE_RETURN_IF_ERROR(CheckShape(c.input(3), "w_c", {g.columns(), g.cell}));
  SLUICE_RETURN_IF_ERROR(CheckShape(c.input(4), "b_ru", {g.gates()}));
  SLUICE_RETURN_IF_ERROR(CheckShape(c.input(5), "b_c", {g.cell}));
  static constexpr const char* kNames[] = {"r", "u", "c", "d_h"};
  for (int i = 6; i < c.num_inputs(); ++i) {
    SLUICE_RETURN_IF_ERROR(CheckShape(c.input(i), kNames[i - 6], {g.batch, g.cell}));
  }
  return g;
}

absl::Status GruCell(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const Gru g, ReadGru(c));
  const Lstm join{.batch = g.batch, .inputs = g.inputs, .cell = g.cell};
  const int64_t n = 2 * g.cell, columns = g.columns(), size = g.batch * g.cell;
  Tensor *r, *u, *cc, *h;
  Tensor** outs[] = {&r, &u, &cc, &h};
  for (int i = 0; i < 4; ++i) {
    SLUICE_ASSIGN_OR_RETURN(*outs[i], c.AllocateOutput(i, {g.batch, g.cell}));
  }
  if (size == 0) return absl::OkStatus();
  SLUICE_ASSIGN_OR_RETURN(Tensor xh, c.AllocateTemp(DT_FLOAT, {g.batch, columns}));
  SLUICE_ASSIGN_OR_RETURN(Tensor ru, c.AllocateTemp(DT_FLOAT, {g.batch, n}));
  const float *x = c.input(0).data<float>(), *h_prev = c.input(1).data<float>();
  Join(join, x, h_prev, xh.data<float>());
  Gemm<float>(g.batch, n, columns, {xh.data<float>(), columns, 1}, {c.input(2).data<float>(), n, 1},
              ru.data<float>(), n);
  for (int64_t i = 0; i < size; ++i) {
    const int64_t row = i / g.cell, k = i % g.cell;
    const float *at = ru.data<float>() + row * n + k, *bias = c.input(4).data<float>() + k;
    r->data<float>()[i] = Sigmoid(at[0] + bias[0]);
    u->data<float>()[i] = Sigmoid(at[g.cell] + bias[g.cell]);
    xh.data<float>()[row * columns + g.inputs + k] = h_prev[i] * r->data<float>()[i];
  }
  Gemm<float>(g.batch, g.cell, columns, {xh.data<float>(), columns, 1},
              {c.input(3).data<float>(), g.cell, 1}, cc->data<float>(), g.cell);
  for (int64_t i = 0; i < size; ++i) {
    float& candidate = cc->data<float>()[i];
    candidate = std::tanh(candidate + c.input(5).data<float>()[i % g.cell]);
    const float update = u->data<float>()[i];
    h->data<float>()[i] = (1 - update) * candidate + update * h_prev[i];
  }
  return absl::OkStatus();
}
using GruCellKernel = FunctionKernel<GruCell>;
KERNEL(GRUBlockCell, GruCellKernel, {"T", DT_FLOAT});

absl::Status GruCellGrad(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const Gru g, ReadGru(c));
  const int64_t n = 2 * g.cell, columns = g.columns(), size = g.batch * g.cell;
  SLUICE_ASSIGN_OR_RETURN(Tensor * d_x, c.AllocateOutput(0, {g.batch, g.inputs}));
  SLUICE_ASSIGN_OR_RETURN(Tensor * d_h_prev, c.AllocateOutput(1, {g.batch, g.cell}));
  SLUICE_ASSIGN_OR_RETURN(Tensor * d_c_bar, c.AllocateOutput(2, {g.batch, g.cell}));
  SLUICE_ASSIGN_OR_RETURN(Tensor * d_ru_bar, c.AllocateOutput(3, {g.batch, n}));
  if (SaturatedProduct(g.batch, columns) == 0 || size == 0) return absl::OkStatus();
  const float *h_prev = c.input(1).data<float>(), *r = c.input(6).data<float>(),
              *u = c.input(7).data<float>(), *candidate = c.input(8).data<float>(),
              *d_h = c.input(9).data<float>();
  float* d_ru = d_ru_bar->data<float>();
  for (int64_t i = 0; i < size; ++i) {
    d_c_bar->data<float>()[i] = d_h[i] * (1 - u[i]) * (1 - candidate[i] * candidate[i]);
    d_ru[i / g.cell * n + g.cell + i % g.cell] =
        d_h[i] * (h_prev[i] - candidate[i]) * u[i] * (1 - u[i]);
  }
  SLUICE_ASSIGN_OR_RETURN(Tensor first, c.AllocateTemp(DT_FLOAT, {g.batch, columns}));
  SLUICE_ASSIGN_OR_RETURN(Tensor second, c.AllocateTemp(DT_FLOAT, {g.batch, columns}));
  // Computes the gradients with respect to [x, h_prev * r] (first), and then those with respect to
  // [x, h_prev] (second).
  Gemm<float>(g.batch, columns, g.cell, {d_c_bar->data<float>(), g.cell, 1},
              {c.input(3).data<float>(), 1, g.cell}, first.data<float>(), columns);
  for (int64_t i = 0; i < size; ++i) {
    const float d_hr = first.data<float>()[i / g.cell * columns + g.inputs + i % g.cell];
    d_ru[i / g.cell * n + i % g.cell] = d_hr * h_prev[i] * r[i] * (1 - r[i]);
  }
  Gemm<float>(g.batch, columns, n, {d_ru, n, 1}, {c.input(2).data<float>(), 1, n},
              second.data<float>(), columns);
  for (int64_t i = 0; i < g.batch * columns; ++i) {
    const int64_t row = i / columns, k = i % columns;
    const float a = first.data<float>()[i], b = second.data<float>()[i];
    if (k < g.inputs) {
      d_x->data<float>()[row * g.inputs + k] = a + b;
    } else {
      const int64_t at = row * g.cell + k - g.inputs;
      d_h_prev->data<float>()[at] = b + a * r[at] + d_h[at] * u[at];
    }
  }
  return absl::OkStatus();
}
using GruCellGradKernel = FunctionKernel<GruCellGrad>;
KERNEL(GRUBlockCellGrad, GruCellGradKernel, {"T", DT_FLOAT});

}  // namespace
}  // namespace sluice
