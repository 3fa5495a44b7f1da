#include "ops/loops/strided_copy.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "executor/kernel/context.h"
#include "ops/loops/elements.h"

namespace sluice {
namespace {

// The side of the tiles of a transposition. It is so small that the lines of both tensors stay in
// the cache.
constexpr int64_t kTile = 32;

// Drops dimensions of size 1 and merges neighbors that are contiguous in both tensors.
void Simplify(absl::InlinedVector<CopyDim, 8>& dims) {
  absl::InlinedVector<CopyDim, 8> joined;
  for (const CopyDim& d : dims) {
    if (d.size == 1) continue;
    if (!joined.empty() && joined.back().from == d.size * d.from &&
        joined.back().to == d.size * d.to) {
      joined.back() = {joined.back().size * d.size, d.from, d.to};
    } else {
      joined.push_back(d);
    }
  }
  dims = std::move(joined);
}

template <typename T>
void CopyRun(const T* from, T* to, const CopyDim& d) {
  if (d.to == 1 && d.from == 1) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      std::memcpy(to, from, static_cast<size_t>(d.size) * sizeof(T));
    } else {
      std::copy_n(from, d.size, to);
    }
  } else if (d.to == 1 && d.from == 0) {
    std::fill_n(to, d.size, *from);
  } else if (d.to == 1) {
    for (int64_t i = 0; i < d.size; ++i) to[i] = from[i * d.from];
  } else {
    for (int64_t i = 0; i < d.size; ++i) to[i * d.to] = from[i * d.from];
  }
}

// Walks the outer dimensions of a box and keeps the offsets into both tensors.
class Odometer {
 public:
  Odometer(absl::Span<const CopyDim> dims, int64_t start) : dims_(dims), at_(dims.size()) {
    for (int i = static_cast<int>(dims.size()) - 1; i >= 0; --i) {
      at_[i] = start % dims[i].size;
      start /= dims[i].size;
      from += at_[i] * dims[i].from;
      to += at_[i] * dims[i].to;
    }
  }
  void Next() {
    for (int i = static_cast<int>(dims_.size()) - 1; i >= 0; --i) {
      from += dims_[i].from;
      to += dims_[i].to;
      if (++at_[i] < dims_[i].size) return;
      from -= at_[i] * dims_[i].from;
      to -= at_[i] * dims_[i].to;
      at_[i] = 0;
    }
  }
  int64_t from = 0;
  int64_t to = 0;

 private:
  absl::Span<const CopyDim> dims_;
  absl::InlinedVector<int64_t, 8> at_;
};

int64_t Product(absl::Span<const CopyDim> dims) {
  // Looks for a size of 0 first: the other sizes of an empty box may be so large that their product
  // overflows.
  for (const CopyDim& d : dims) {
    if (d.size == 0) return 0;
  }
  int64_t n = 1;
  for (const CopyDim& d : dims) n *= d.size;
  return n;
}

// Returns roughly how many nanoseconds it takes to move an element.
template <typename T>
double MoveCost(const CopyDim& inner) {
  if constexpr (!std::is_trivially_copyable_v<T>) return 20;
  return inner.from == 1 || inner.from == 0 ? sizeof(T) * 0.1 : 1.0;
}

// Copies the elements along the last dimension run by run.
template <typename T>
void CopyRows(KernelContext& context, const T* from, T* to, absl::Span<const CopyDim> dims) {
  const CopyDim inner = dims.back();
  const absl::Span<const CopyDim> outer = dims.first(dims.size() - 1);
  if (outer.empty()) {
    context.ParallelFor(inner.size, MoveCost<T>(inner), [=](int64_t begin, int64_t end) {
      CopyRun(from + begin * inner.from, to + begin * inner.to,
              CopyDim{end - begin, inner.from, inner.to});
    });
    return;
  }
  const double cost = 3 + MoveCost<T>(inner) * static_cast<double>(inner.size);
  context.ParallelFor(Product(outer), cost, [=](int64_t begin, int64_t end) {
    Odometer at(outer, begin);
    for (int64_t i = begin; i < end; ++i, at.Next()) CopyRun(from + at.from, to + at.to, inner);
  });
}

// Transposes a tile. `rows` is contiguous in the source, and `columns` is contiguous in the
// destination.
template <typename T>
void TransposeTile(const T* from, T* to, const CopyDim& rows, const CopyDim& columns) {
  for (int64_t r = 0; r < rows.size; ++r) {
    for (int64_t c = 0; c < columns.size; ++c) to[r * rows.to + c] = from[r + c * columns.from];
  }
}

// Copies tile by tile. Dimension `near` is contiguous in the source, and the last dimension in the
// destination, so a run along either of them would touch a cache line per element in one of the
// tensors.
template <typename T>
void CopyTransposed(KernelContext& context, const T* from, T* to,
                    absl::InlinedVector<CopyDim, 8> dims, size_t near) {
  const CopyDim columns = dims.back();
  const CopyDim rows = dims[near];
  dims.pop_back();
  dims.erase(dims.begin() + near);
  const int64_t bands = (rows.size + kTile - 1) / kTile;
  dims.push_back({bands, kTile * rows.from, kTile * rows.to});
  const absl::Span<const CopyDim> outer(dims);
  const double cost = 1.0 * static_cast<double>(kTile * columns.size);
  context.ParallelFor(Product(outer), cost, [=](int64_t begin, int64_t end) {
    Odometer at(outer, begin);
    for (int64_t i = begin; i < end; ++i, at.Next()) {
      const int64_t first = (i % bands) * kTile;
      const CopyDim band{std::min(kTile, rows.size - first), 1, rows.to};
      for (int64_t c = 0; c < columns.size; c += kTile) {
        const CopyDim tile{std::min(kTile, columns.size - c), columns.from, 1};
        TransposeTile(from + at.from + c * columns.from, to + at.to + c, band, tile);
      }
    }
  });
}

template <typename T>
void CopyTyped(KernelContext& context, const T* from, T* to, absl::InlinedVector<CopyDim, 8> dims) {
  if (dims.empty()) {
    *to = *from;
    return;
  }
  const CopyDim& inner = dims.back();
  if (inner.to == 1 && inner.from != 1 && inner.from != 0 && inner.size >= 8) {
    for (size_t i = 0; i + 1 < dims.size(); ++i) {
      if (dims[i].from == 1 && dims[i].size >= 8) {
        return CopyTransposed(context, from, to, std::move(dims), i);
      }
    }
  }
  CopyRows(context, from, to, absl::Span<const CopyDim>(dims));
}

}  // namespace

int64_t CopyBox::num_elements() const { return Product(dims); }

absl::InlinedVector<int64_t, 8> RowMajorStrides(const TensorShape& shape) {
  absl::InlinedVector<int64_t, 8> strides(shape.rank());
  if (shape.num_elements() == 0) return strides;
  int64_t stride = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[i] = stride;
    stride *= shape.dim(i);
  }
  return strides;
}

void CopyStrided(KernelContext& context, DataType dtype, const void* from, void* to, CopyBox box) {
  if (box.num_elements() == 0) return;
  Simplify(box.dims);
  WithElement(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    CopyTyped(context, static_cast<const T*>(from) + box.from_offset,
              static_cast<T*>(to) + box.to_offset, std::move(box.dims));
  });
}

void FillElements(KernelContext& context, DataType dtype, const void* value, void* to,
                  int64_t count) {
  CopyStrided(context, dtype, value, to, {.dims = {{count, 0, 1}}});
}

void CopyElements(KernelContext& context, DataType dtype, const void* from, void* to,
                  int64_t count) {
  CopyStrided(context, dtype, from, to, {.dims = {{count, 1, 1}}});
}

void JoinElements(absl::Span<const Tensor> parts, Tensor* out) {
  WithElement(out->dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = static_cast<T*>(out->raw());
    for (const Tensor& part : parts) {
      to = std::copy_n(static_cast<const T*>(part.raw()), part.num_elements(), to);
    }
  });
}

}  // namespace sluice
