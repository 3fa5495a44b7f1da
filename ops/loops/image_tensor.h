// Provides images in the form that loops over them require: channels last, and float instead of
// 16-bit types.
//
// A tensor that has this form is used in place. Others are copied to scratch memory.
//
// Errors: RESOURCE_EXHAUSTED if there is no memory for a copy.
#ifndef SLUICE_OPS_LOOPS_IMAGE_TENSOR_H_
#define SLUICE_OPS_LOOPS_IMAGE_TENSOR_H_

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "executor/cpu/target_clones.h"
#include "executor/kernel/context.h"
#include "graph/status.h"

namespace sluice {

// The type in which elements of T are computed.
template <typename T>
using ImageElement = std::conditional_t<kIsFloat16<T>, float, T>;

// to[i] = from[i] as type To.
template <typename From, typename To>
SLUICE_TARGET_CLONES void ConvertElements(const From* from, To* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<To>(from[i]);
}

// Transposes `batch` matrices of rows x columns, and converts their elements.
template <typename From, typename To>
void TransposeMatrices(KernelContext& context, int64_t batch, int64_t rows, int64_t columns,
                       const From* from, To* to) {
  if (rows == 0 || columns == 0) return;  // because `batch` may be very large
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

// Fills a gradient with zeros.
inline absl::Status FillWithZeros(Tensor* gradient) {
  std::memset(gradient->raw(), 0, gradient->bytes());
  return absl::OkStatus();
}

// The position of a tensor's channels: the last dimension, or the one after the batch.
enum class Channels { kLast, kFirst };
template <typename Layout>  // ImageLayout (ops/conv/window.h)
Channels ChannelsOf(const Layout& layout) {
  return layout.channels_first ? Channels::kFirst : Channels::kLast;
}
// The number of pixels of one channel in a channels-first tensor [batch, channels, …].
inline int64_t PixelsOf(const Tensor& t) {
  return t.num_elements() == 0 ? 0 : t.num_elements() / (t.dim(0) * t.dim(1));
}

// Provides an input at data(), in the form that loops require. The tensor must outlive the use of
// data().
template <typename T, typename Element = ImageElement<T>>
class ReadImages {
 public:
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
      TransposeMatrices(context, t.dim(0), t.dim(1), PixelsOf(t), from, to);
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

// Provides memory at data() for an output in the form that loops require. After the caller has
// computed the output there, Close writes it to the tensor.
template <typename T, typename Element = ImageElement<T>>
class WrittenImages {
 public:
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
      TransposeMatrices(context, target_->dim(0), PixelsOf(*target_), target_->dim(1), data_, to);
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

// An input of WithImages.
struct ImageOperand {
  const Tensor& tensor;
  Channels channels = Channels::kLast;
};

// Computes `out` from `inputs`, in the form that loops require. Calls compute(x0, x1, ..., y),
// which returns a status. xk points to the elements of inputs[k], y to those of `out`.
template <typename T, typename Element = ImageElement<T>, size_t kInputs, typename Compute>
absl::Status WithImages(KernelContext& context, const ImageOperand (&inputs)[kInputs], Tensor* out,
                        Channels channels, const Compute& compute) {
  std::array<ReadImages<T, Element>, kInputs> read;
  WrittenImages<T, Element> written;
  for (size_t i = 0; i < kInputs; ++i) {
    SLUICE_RETURN_IF_ERROR(read[i].Open(context, inputs[i].tensor, inputs[i].channels));
  }
  SLUICE_RETURN_IF_ERROR(written.Open(context, out, channels));
  const auto call = [&]<size_t... kIndex>(std::index_sequence<kIndex...>)->absl::Status {
    return compute(read[kIndex].data()..., written.data());
  };
  SLUICE_RETURN_IF_ERROR(call(std::make_index_sequence<kInputs>()));
  return written.Close(context);
}

}  // namespace sluice

#endif  // SLUICE_OPS_LOOPS_IMAGE_TENSOR_H_
