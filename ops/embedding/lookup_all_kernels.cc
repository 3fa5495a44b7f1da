// Kernels of lookups of several fields (lookup_all.cc).
//
// One thread adds up a row of the result in the order of its keys, in the type in which
// SparseSegmentSum adds. So results depend neither on the number of threads, nor on whether a
// lookup is one op or several.
#include <algorithm>
#include <bit>
#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/hash/hash.h"
#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/embedding/lookup_fields.h"
#include "ops/embedding/row_store.h"
#include "ops/loops/elements.h"
#include "ops/state/named_resource.h"

namespace sluice {
namespace {

using Stores = absl::InlinedVector<std::shared_ptr<RowStore>, 32>;
absl::StatusOr<Stores> StoresOf(const KernelContext& c, const FieldAttrs& attrs) {
  Stores stores;
  for (size_t f = 0; f < attrs.size(); ++f) {
    SLUICE_ASSIGN_OR_RETURN(auto store, BorrowNamed<RowStore>(c, static_cast<int>(f)));
    const RowStoreOptions& has = store->options();
    SLUICE_INVALID_IF(has.dtype != attrs.dtype || has.dim != attrs.dims[f], c.node().Describe(),
                      ": expected a table of ", DataTypeName(attrs.dtype), " rows of ",
                      attrs.dims[f], " elements for field ", f, ", got one of ",
                      DataTypeName(has.dtype), " rows of ", has.dim);
    stores.push_back(std::move(store));
  }
  return stores;
}

// Reads the rows of keys of one table in blocks, so that loads from memory overlap.
template <typename T>
class BlockReader {
 public:
  BlockReader(const RowStore& store, RowStore::Keys keys)
      : store_(store), keys_(keys), dim_(store.options().dim) {
    constexpr int64_t kKeys = 64, kBytes = 64 << 10;
    size_ = std::clamp<int64_t>(kBytes / store.row_bytes(), 1, kKeys);
    rows_.resize(static_cast<size_t>(size_ * dim_));
  }
  // The row of key i. Keys must be read in ascending order, up to `end`.
  const T* Row(int64_t i, int64_t end) {
    if (i >= end_) {
      begin_ = i;
      end_ = std::min(end, i + size_);
      store_.Gather(keys_.subspan(static_cast<size_t>(begin_), static_cast<size_t>(end_ - begin_)),
                    rows_.data());
    }
    return rows_.data() + (i - begin_) * dim_;
  }

 private:
  const RowStore& store_;
  const RowStore::Keys keys_;
  const int64_t dim_;
  int64_t size_, begin_ = 0, end_ = 0;
  absl::InlinedVector<T, 1024> rows_;
};

// Writes the combined row of a bag.
template <typename T>
void CombineBag(const Fields& fields, const Bag& bag, Combine combiner, int64_t dim, int64_t end,
                BlockReader<T>& reader, Wide<T>* sum, T* out) {
  using A = Wide<T>;
  std::fill_n(sum, dim, A(0));
  for (int64_t i = bag.begin; i < bag.end; ++i) {
    const T* row = reader.Row(i, end);
    if (fields.weights == nullptr) {
      for (int64_t k = 0; k < dim; ++k) sum[k] += static_cast<A>(row[k]);
    } else {
      const A w = fields.weights[i];
      for (int64_t k = 0; k < dim; ++k) sum[k] += static_cast<A>(row[k]) * w;
    }
  }
  if (fields.weights == nullptr) {
    const A factor = FactorOf(bag, combiner);
    for (int64_t k = 0; k < dim; ++k) out[k] = static_cast<T>(sum[k] * factor);
  } else if (const A divisor = DivisorOf(bag, combiner); divisor != 0) {
    for (int64_t k = 0; k < dim; ++k) out[k] = static_cast<T>(sum[k] / divisor);
  } else {
    std::fill_n(out, dim, T(0));
  }
}

// Writes rows [row_begin, row_end) of a field to columns of `out`, whose rows have `width`
// elements.
template <typename T>
void CombineRows(const RowStore& store, const Fields& fields, size_t field, Combine combiner,
                 int64_t row_begin, int64_t row_end, T* out, int64_t width) {
  const int64_t dim = store.options().dim;
  BlockReader<T> reader(store, fields.keys);
  int64_t i = fields.FirstKey(field, row_begin);
  const int64_t end = fields.FirstKey(field, row_end);
  if (!fields.has_segments && fields.weights == nullptr) {
    for (int64_t row = row_begin; i < end; ++i, ++row) {
      std::copy_n(reader.Row(i, end), dim, out + row * width);
    }
    return;
  }
  absl::InlinedVector<Wide<T>, 256> sum(static_cast<size_t>(dim));
  for (int64_t row = row_begin; row < row_end; ++row) {
    if (i == end || fields.RowOf(field, i) != row) {
      std::fill_n(out + row * width, dim, T(0));
      continue;
    }
    const Bag bag = BagAt(fields, field, combiner, i, end);
    CombineBag<T>(fields, bag, combiner, dim, end, reader, sum.data(), out + row * width);
    i = bag.end;
  }
}

template <typename T>
class LookupAllKernel : public Kernel {
 public:
  explicit LookupAllKernel(const KernelInit& init) : attrs_(init) {}

  absl::Status Compute(KernelContext& c) override {
    const auto n = static_cast<int64_t>(attrs_.size());
    SLUICE_ASSIGN_OR_RETURN(const Stores stores, StoresOf(c, attrs_));
    SLUICE_ASSIGN_OR_RETURN(const Fields fields, FieldsOf(c, static_cast<int>(n), attrs_.size()));
    const Tensor& num_rows = c.input(static_cast<int>(n) + 4);
    SLUICE_INVALID_IF(!num_rows.shape().IsScalar(), c.node().Describe(),
                      ": expected a scalar num_rows, got shape ", num_rows.shape().ToString());
    SLUICE_ASSIGN_OR_RETURN(const int64_t rows, RowsOf(c, fields, num_rows.scalar<int64_t>()));
    const int64_t dims[] = {rows, attrs_.width};
    SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(dims));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    if (rows == 0) return absl::OkStatus();
    T* const to = out->data<T>();
    // The output has at least one element per field and row, so the product does not overflow.
    const double per_row = static_cast<double>(fields.keys.size()) / static_cast<double>(n * rows);
    const double bytes = static_cast<double>(attrs_.width) / static_cast<double>(n) * sizeof(T);
    c.ParallelFor(n * rows, per_row * (50 + 0.1 * bytes), [&](int64_t begin, int64_t end) {
      for (int64_t f = begin / rows; f * rows < end; ++f) {
        const auto field = static_cast<size_t>(f);
        const int64_t first = std::max(begin - f * rows, int64_t{0});
        const int64_t last = std::min(end - f * rows, rows);
        CombineRows<T>(*stores[field], fields, field, attrs_.combiners[field], first, last,
                       to + attrs_.first_columns[field], attrs_.width);
      }
    });
    return absl::OkStatus();
  }

 private:
  const FieldAttrs attrs_;
};

// Checks that `grad` is [rows, width], with the rows that the fields need.
absl::Status CheckGrad(const KernelContext& c, const Tensor& grad, const Fields& fields,
                       int64_t width) {
  SLUICE_INVALID_IF(grad.rank() != 2 || grad.dim(1) != width, c.node().Describe(),
                    ": expected grad of shape [n,", width, "], got ", grad.shape().ToString());
  return RowsOf(c, fields, grad.dim(0)).status();
}

// Numbers the different keys in the order of their first use. `of` gets the number of each key,
// `distinct` the key of each number. `slots` is a hash table with a power of two of places.
int64_t NumberKeys(RowStore::Keys keys, absl::Span<int32_t> slots, int32_t* of, int64_t* distinct) {
  std::fill(slots.begin(), slots.end(), -1);
  const size_t mask = slots.size() - 1;
  int32_t count = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    size_t at = absl::Hash<int64_t>()(keys[i]) & mask;
    while (slots[at] >= 0 && distinct[slots[at]] != keys[i]) at = (at + 1) & mask;
    if (slots[at] < 0) {
      distinct[count] = keys[i];
      slots[at] = count++;
    }
    of[i] = slots[at];
  }
  return count;
}

// Adds the gradients of a field's keys to the rows of `sums`. `of` has the row of each key.
template <typename T>
void SumByKey(const Fields& fields, size_t field, Combine combiner, const T* grad, int64_t width,
              int64_t dim, const int32_t* of, Wide<T>* sums) {
  using A = Wide<T>;
  const int64_t first = fields.begin[field], end = fields.begin[field + 1];
  for (int64_t i = first; i < end;) {
    const Bag bag = BagAt(fields, field, combiner, i, end);
    const T* from = grad + fields.RowOf(field, i) * width;
    const A factor = fields.weights == nullptr ? FactorOf(bag, combiner) : A(1);
    const A divisor = fields.weights == nullptr ? A(1) : DivisorOf(bag, combiner);
    for (; i < bag.end; ++i) {
      A* to = sums + of[i - first] * dim;
      if (fields.weights == nullptr) {
        for (int64_t k = 0; k < dim; ++k) to[k] += static_cast<A>(from[k]) * factor;
      } else if (divisor != 0) {
        const A w = fields.weights[i];
        for (int64_t k = 0; k < dim; ++k) to[k] += static_cast<A>(from[k]) / divisor * w;
      }
    }
  }
}

template <typename T>
class LookupAllGradKernel : public Kernel {
 public:
  explicit LookupAllGradKernel(const KernelInit& init) : attrs_(init) {}

  absl::Status Compute(KernelContext& c) override {
    const auto n = static_cast<int64_t>(attrs_.size());
    const Tensor& grad = c.input(0);
    SLUICE_ASSIGN_OR_RETURN(const Fields fields, FieldsOf(c, 1, attrs_.size()));
    SLUICE_RETURN_IF_ERROR(CheckGrad(c, grad, fields, attrs_.width));
    const auto keys = static_cast<int64_t>(fields.keys.size());
    // Places of the fields' hash tables, at most half of which are used.
    absl::InlinedVector<int64_t, 64> places = {0};
    for (size_t f = 0; f < attrs_.size(); ++f) {
      const auto size = static_cast<uint64_t>(fields.begin[f + 1] - fields.begin[f]);
      places.push_back(places.back() + static_cast<int64_t>(std::bit_ceil(2 * size + 1)));
    }
    SLUICE_ASSIGN_OR_RETURN(Tensor slots, c.AllocateTemp(DT_INT32, {places.back()}));
    SLUICE_ASSIGN_OR_RETURN(Tensor of, c.AllocateTemp(DT_INT32, {keys}));
    SLUICE_ASSIGN_OR_RETURN(Tensor distinct, c.AllocateTemp(DT_INT64, {keys}));
    absl::InlinedVector<int64_t, 32> counts(attrs_.size());
    const double per_field = static_cast<double>(keys) / static_cast<double>(n);
    c.ParallelFor(n, 10 * per_field, [&](int64_t begin, int64_t end) {
      for (auto f = static_cast<size_t>(begin); f < static_cast<size_t>(end); ++f) {
        const int64_t first = fields.begin[f];
        counts[f] = NumberKeys(
            fields.keys.subspan(static_cast<size_t>(first),
                                static_cast<size_t>(fields.begin[f + 1] - first)),
            {slots.data<int32_t>() + places[f], static_cast<size_t>(places[f + 1] - places[f])},
            of.data<int32_t>() + first, distinct.data<int64_t>() + first);
      }
    });
    absl::InlinedVector<T*, 32> values;
    for (int64_t f = 0; f < n; ++f) {
      const auto at = static_cast<size_t>(f);
      SLUICE_ASSIGN_OR_RETURN(Tensor * sums,
                              c.AllocateOutput(static_cast<int>(f), {counts[at], attrs_.dims[at]}));
      SLUICE_ASSIGN_OR_RETURN(Tensor * out,
                              c.AllocateOutput(static_cast<int>(n + f), {counts[at]}));
      std::copy_n(distinct.data<int64_t>() + fields.begin[at], counts[at], out->data<int64_t>());
      values.push_back(sums->data<T>());
    }
    const double cost =
        per_field * (10 + 0.4 * static_cast<double>(attrs_.width) / static_cast<double>(n));
    c.ParallelFor(n, cost, [&](int64_t begin, int64_t end) {
      for (auto f = static_cast<size_t>(begin); f < static_cast<size_t>(end); ++f) {
        SumField(fields, f, grad.data<T>(), of.data<int32_t>() + fields.begin[f], counts[f],
                 values[f]);
      }
    });
    return absl::OkStatus();
  }

 private:
  void SumField(const Fields& fields, size_t f, const T* grad, const int32_t* of, int64_t count,
                T* values) const {
    using A = Wide<T>;
    const int64_t dim = attrs_.dims[f];
    const T* from = grad + attrs_.first_columns[f];
    if constexpr (std::is_same_v<A, T>) {
      std::fill_n(values, count * dim, T(0));
      SumByKey<T>(fields, f, attrs_.combiners[f], from, attrs_.width, dim, of, values);
    } else {
      std::vector<A> sums(static_cast<size_t>(count * dim));
      SumByKey<T>(fields, f, attrs_.combiners[f], from, attrs_.width, dim, of, sums.data());
      std::transform(sums.begin(), sums.end(), values, [](A v) { return static_cast<T>(v); });
    }
  }

  const FieldAttrs attrs_;
};

// The gradients with respect to the weights of a bag, from the products of rows and gradient, which
// they replace. With d those products, w the weights, W and S the sums of w and of w^2: d for the
// sum, (d - sum(w d) / W) / W for the mean, d / sqrt(S) - w sum(w d) / S^1.5 for "sqrtn".
void FinishWeights(const Fields& fields, const Bag& bag, Combine combiner, float* d) {
  if (combiner == Combine::kSum) return;
  const float divisor = DivisorOf(bag, combiner);
  if (divisor == 0) {
    std::fill(d + bag.begin, d + bag.end, 0.0f);
    return;
  }
  float products = 0;
  for (int64_t i = bag.begin; i < bag.end; ++i) products += fields.weights[i] * d[i];
  for (int64_t i = bag.begin; i < bag.end; ++i) {
    const float share =
        combiner == Combine::kMean ? products / divisor : fields.weights[i] * products / bag.sum;
    d[i] = (d[i] - share) / divisor;
  }
}

template <typename T>
class LookupAllWeightsGradKernel : public Kernel {
 public:
  explicit LookupAllWeightsGradKernel(const KernelInit& init) : attrs_(init) {}

  absl::Status Compute(KernelContext& c) override {
    const auto n = static_cast<int>(attrs_.size());
    const Tensor& grad = c.input(n);
    SLUICE_ASSIGN_OR_RETURN(const Stores stores, StoresOf(c, attrs_));
    SLUICE_ASSIGN_OR_RETURN(const Fields fields, FieldsOf(c, n + 1, attrs_.size()));
    SLUICE_RETURN_IF_ERROR(CheckGrad(c, grad, fields, attrs_.width));
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, c.input(n + 4).shape()));
    if (fields.weights == nullptr) return absl::OkStatus();
    const double cost = 60.0 * static_cast<double>(fields.keys.size()) / n;
    c.ParallelFor(n, cost, [&](int64_t begin, int64_t end) {
      for (auto f = static_cast<size_t>(begin); f < static_cast<size_t>(end); ++f) {
        OfField(*stores[f], fields, f, grad.data<T>() + attrs_.first_columns[f],
                out->data<float>());
      }
    });
    return absl::OkStatus();
  }

 private:
  void OfField(const RowStore& store, const Fields& fields, size_t f, const T* grad,
               float* out) const {
    BlockReader<T> reader(store, fields.keys);
    const int64_t end = fields.begin[f + 1];
    for (int64_t i = fields.begin[f]; i < end;) {
      const Bag bag = BagAt(fields, f, attrs_.combiners[f], i, end);
      const T* from = grad + fields.RowOf(f, i) * attrs_.width;
      for (; i < bag.end; ++i) {
        const T* row = reader.Row(i, end);
        float product = 0;
        for (int64_t k = 0; k < attrs_.dims[f]; ++k) {
          product += static_cast<float>(row[k]) * static_cast<float>(from[k]);
        }
        out[i] = product;
      }
      FinishWeights(fields, bag, attrs_.combiners[f], out);
    }
  }

  const FieldAttrs attrs_;
};

using RowList = TypeList<float, half, bfloat16>;
KERNELS(EmbeddingTableLookupAll, "T", LookupAllKernel, RowList);
KERNELS(EmbeddingTableLookupAllGrad, "T", LookupAllGradKernel, RowList);
KERNELS(EmbeddingTableLookupAllWeightsGrad, "T", LookupAllWeightsGradKernel, RowList);

}  // namespace
}  // namespace sluice
