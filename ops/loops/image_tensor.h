// Images as the loops over them want them: float in place of 16-bit types, channels last.
//
// Where a tensor is so already it is used as it is; else a copy is made in scratch memory.
#ifndef SLUICE_OPS_LOOPS_IMAGE_TENSOR_H_
#define SLUICE_OPS_LOOPS_IMAGE_TENSOR_H_

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "executor/cpu/target_clones.h"
#include "executor/kernel/context.h"
#include "graph/status.h"

namespace sluice {

// What elements of T are computed in.
template <typename T>
using ImageElement = std::conditional_t<kIsFloat16<T>, float, T>;

// to[i] = from[i] as type To.
template <typename From, typename To>
SLUICE_TARGET_CLONES void ConvertElements(const From* from, To* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<To>(from[i]);
}

// `batch` matrices, rows x columns, transposed and converted.
template <typename From, typename To>
void TransposeMatrices(KernelContext& context, int64_t batch, int64_t rows, int64_t columns,
                       const From* from, To* to) {
  if (rows == 0 || columns == 0) return;  // however many matrices
  context.ParallelFor(batch, static_cast<double>(rows * columns), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      const From* x = from + b * rows * columns;
      To* y = to + b * rows * columns;
      for (int64_t c = 0; c < columns; ++c) {
        for (int64_t r = 0; r < rows; ++r) y[c * rows + r] = static_cast<To>(x[r * columns + c]);
      }
    }
  });
}

// The gradient of images or filters where nothing flows back.
inline absl::Status FillWithZeros(Tensor* gradient) {
  std::memset(gradient->raw(), 0, gradient->bytes());
  return absl::OkStatus();
}

// Where a tensor's channels are: the last dimension, or the one after the batch.
enum class Channels { kLast, kFirst };
template <typename Layout>  // ImageLayout (ops/conv/window.h)
Channels ChannelsOf(const Layout& layout) {
  return layout.channel == 1 ? Channels::kFirst : Channels::kLast;
}
// Sizes of [batch, channels, everything else] of a channels-first tensor.
inline int64_t SpaceOf(const Tensor& t) {
  return t.num_elements() == 0 ? 0 : t.num_elements() / (t.dim(0) * t.dim(1));
}

// An input. Lives as long as the pointer from data() is used.
template <typename T>
class ReadImages {
 public:
  using Element = ImageElement<T>;

  absl::Status Open(KernelContext& context, const Tensor& t, Channels channels = Channels::kLast) {
    const T* from = t.data<T>();
    if constexpr (std::is_same_v<T, Element>) {
      if (channels == Channels::kLast) {
        data_ = from;
        return absl::OkStatus();
      }
    }
    SLUICE_ASSIGN_OR_RETURN(copy_, context.AllocateTemp(kDataTypeOf<Element>, t.shape()));
    Element* to = copy_.data<Element>();
    if (channels == Channels::kFirst) {
      TransposeMatrices(context, t.dim(0), t.dim(1), SpaceOf(t), from, to);
    } else {
      ConvertElements(from, to, t.num_elements());
    }
    data_ = to;
    return absl::OkStatus();
  }
  const Element* data() const { return data_; }

 private:
  Tensor copy_;
  const Element* data_ = nullptr;
};

// An output: computed at data(), in place once Close returns.
template <typename T>
class WrittenImages {
 public:
  using Element = ImageElement<T>;

  absl::Status Open(KernelContext& context, Tensor* t, Channels channels = Channels::kLast) {
    target_ = t;
    channels_ = channels;
    if constexpr (std::is_same_v<T, Element>) {
      if (channels == Channels::kLast) {
        data_ = t->data<T>();
        return absl::OkStatus();
      }
    }
    SLUICE_ASSIGN_OR_RETURN(copy_, context.AllocateTemp(kDataTypeOf<Element>, t->shape()));
    data_ = copy_.template data<Element>();
    return absl::OkStatus();
  }
  Element* data() const { return data_; }

  absl::Status Close(KernelContext& context) {
    if (!copy_.IsInitialized()) return absl::OkStatus();
    T* to = target_->data<T>();
    if (channels_ == Channels::kFirst) {
      TransposeMatrices(context, target_->dim(0), SpaceOf(*target_), target_->dim(1), data_, to);
    } else {
      ConvertElements(data_, to, target_->num_elements());
    }
    return absl::OkStatus();
  }

 private:
  Tensor* target_ = nullptr;
  Tensor copy_;
  Element* data_ = nullptr;
  Channels channels_ = Channels::kLast;
};

}  // namespace sluice

#endif  // SLUICE_OPS_LOOPS_IMAGE_TENSOR_H_
