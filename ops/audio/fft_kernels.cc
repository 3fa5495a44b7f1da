// Kernels of Fourier transforms. They transform one dimension after the other, in double because
// float would lose digits between the dimensions.
#include <algorithm>
#include <complex>
#include <vector>

#include "executor/kernel/context.h"
#include "graph/status.h"
#include "ops/audio/transform.h"

namespace sluice {
namespace {

using Work = std::vector<complex128>;

// Transforms the lines along dimension `d` of an array of `dims` in place.
void AlongDimension(KernelContext& c, const std::vector<int64_t>& dims, size_t d,
                    Direction direction, complex128* data) {
  const int64_t length = dims[d];
  int64_t stride = 1, lines = 1;
  for (size_t i = d + 1; i < dims.size(); ++i) stride *= dims[i];
  for (size_t i = 0; i < dims.size(); ++i) lines *= i == d ? 1 : dims[i];
  if (length <= 1 || lines == 0) return;
  const double cost = static_cast<double>(length) * 20;
  c.ParallelFor(lines, cost, [&](int64_t begin, int64_t end) {
    Transform transform(length);
    Work line(static_cast<size_t>(length));
    for (int64_t i = begin; i < end; ++i) {
      complex128* first = data + (i / stride) * stride * length + i % stride;
      if (stride == 1) {
        transform.Run(direction, first);
        continue;
      }
      for (int64_t k = 0; k < length; ++k) line[static_cast<size_t>(k)] = first[k * stride];
      transform.Run(direction, line.data());
      for (int64_t k = 0; k < length; ++k) first[k * stride] = line[static_cast<size_t>(k)];
    }
  });
}

void Scale(Work& work, int64_t count) {
  const double factor = 1 / static_cast<double>(count);
  for (complex128& z : work) z *= factor;
}

absl::Status CheckRank(const Tensor& in, int rank) {
  if (in.rank() >= rank) return absl::OkStatus();
  return InvalidArgument("Input must have rank of at least ", rank,
                         " but got: ", in.shape().ToString());
}

// Calls f with a pointer to the elements of `t`, a tensor of type Single or Double.
template <typename Single, typename Double, typename AnyTensor, typename F>
void WithElements(AnyTensor& t, F&& f) {
  if (t.dtype() == kDataTypeOf<Double>) {
    f(t.template data<Double>());
  } else {
    f(t.template data<Single>());
  }
}

template <int kRank, Direction kDirection>
absl::Status ComplexTransform(KernelContext& c) {
  const Tensor& in = c.input(0);
  SLUICE_RETURN_IF_ERROR(CheckRank(in, kRank));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, in.shape()));
  if (in.num_elements() == 0) return absl::OkStatus();
  Work work(static_cast<size_t>(in.num_elements()));
  WithElements<complex64, complex128>(
      in, [&](const auto* p) { std::copy(p, p + work.size(), work.begin()); });
  const std::vector<int64_t> dims(in.shape().dims().begin(), in.shape().dims().end());
  int64_t count = 1;
  for (size_t d = dims.size() - kRank; d < dims.size(); ++d) {
    AlongDimension(c, dims, d, kDirection, work.data());
    count *= dims[d];
  }
  if (kDirection == Direction::kInverse) Scale(work, count);
  WithElements<complex64, complex128>(*out, [&](auto* p) {
    for (size_t i = 0; i < work.size(); ++i) {
      p[i] = static_cast<std::remove_reference_t<decltype(*p)>>(work[i]);
    }
  });
  return absl::OkStatus();
}
template <int kRank>
using Forward = FunctionKernel<ComplexTransform<kRank, Direction::kForward>>;
template <int kRank>
using Inverse = FunctionKernel<ComplexTransform<kRank, Direction::kInverse>>;
KERNEL(FFT, Forward<1>);
KERNEL(FFT2D, Forward<2>);
KERNEL(FFT3D, Forward<3>);
KERNEL(IFFT, Inverse<1>);
KERNEL(IFFT2D, Inverse<2>);
KERNEL(IFFT3D, Inverse<3>);

// The sizes of the batch dimensions, and of the real and the complex side of a transform.
struct RealSizes {
  std::vector<int64_t> batch, real, complex;
};

template <int kRank>
absl::StatusOr<RealSizes> SizesOf(KernelContext& c, bool is_inverse) {
  const Tensor &in = c.input(0), &length = c.input(1);
  SLUICE_RETURN_IF_ERROR(CheckRank(in, kRank));
  SLUICE_INVALID_IF(length.rank() != 1 || length.num_elements() != kRank,
                    "fft_length must have shape [", kRank, "], got ", length.shape().ToString());
  RealSizes sizes;
  const int first = in.rank() - kRank;
  const bool has_batch =
      std::count(in.shape().dims().begin(), in.shape().dims().begin() + first, int64_t{0}) == 0;
  sizes.batch.assign(in.shape().dims().begin(), in.shape().dims().begin() + first);
  for (int i = 0; i < kRank; ++i) {
    const int64_t n = length.data<int32_t>()[i];
    SLUICE_INVALID_IF(n < 0, "fft_length[", i, "] must be >= 0, but got: ", n);
    const int64_t half = i == kRank - 1 ? (n == 0 ? 0 : n / 2 + 1) : n;
    const int64_t needed = is_inverse ? half : n;
    SLUICE_INVALID_IF(has_batch && in.dim(first + i) < needed, "Input dimension ", first + i,
                      " must have length of at least ", needed, " but got: ", in.dim(first + i));
    sizes.real.push_back(n);
    sizes.complex.push_back(half);
  }
  return sizes;
}

int64_t Product(const std::vector<int64_t>& v) {
  int64_t product = 1;
  for (int64_t n : v) product *= n;
  return product;
}

std::vector<int64_t> Joined(std::vector<int64_t> a, const std::vector<int64_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Calls f(position in an array of sizes `outer`, position in its corner of sizes `inner`) for each
// position in the corner.
template <typename F>
void ForCorner(const std::vector<int64_t>& outer, const std::vector<int64_t>& inner, const F& f) {
  const int64_t count = Product(inner);
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, position = 0, step = 1;
    for (size_t d = inner.size(); d-- > 0;) {
      position += rest % inner[d] * step;
      rest /= inner[d];
      step *= outer[d];
    }
    f(position, i);
  }
}

std::vector<int64_t> LastDims(const Tensor& t, size_t rank) {
  return {t.shape().dims().end() - rank, t.shape().dims().end()};
}

absl::Status CheckTypes(DataType real, DataType complex) {
  if ((real == DT_DOUBLE) == (complex == DT_COMPLEX128)) return absl::OkStatus();
  return InvalidArgument("Wrong types for transform: ", DataTypeName(real), " and ",
                         DataTypeName(complex));
}

template <int kRank>
absl::Status RealForward(KernelContext& c) {
  const Tensor& in = c.input(0);
  SLUICE_RETURN_IF_ERROR(CheckTypes(in.dtype(), c.output_dtype(0)));
  SLUICE_ASSIGN_OR_RETURN(const RealSizes sizes, SizesOf<kRank>(c, false));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape,
                          TensorShape::Make(Joined(sizes.batch, sizes.complex)));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  if (in.num_elements() == 0 || out->num_elements() == 0) return absl::OkStatus();
  const std::vector<int64_t> dims = Joined(sizes.batch, sizes.real);
  const std::vector<int64_t> in_dims = LastDims(in, kRank);
  Work work(static_cast<size_t>(Product(dims)));
  const int64_t real = Product(sizes.real), complex = Product(sizes.complex);
  const int64_t read = Product(in_dims), count = Product(sizes.batch);
  for (int64_t i = 0; i < count; ++i) {
    WithElements<float, double>(in, [&](const auto* p) {
      ForCorner(in_dims, sizes.real, [&](int64_t from, int64_t to) {
        work[static_cast<size_t>(i * real + to)] = static_cast<double>(p[i * read + from]);
      });
    });
  }
  for (size_t d = dims.size() - kRank; d < dims.size(); ++d) {
    AlongDimension(c, dims, d, Direction::kForward, work.data());
  }
  for (int64_t i = 0; i < count; ++i) {
    WithElements<complex64, complex128>(*out, [&](auto* p) {
      ForCorner(sizes.real, sizes.complex, [&](int64_t from, int64_t to) {
        using E = std::remove_reference_t<decltype(*p)>;
        p[i * complex + to] = static_cast<E>(work[static_cast<size_t>(i * real + from)]);
      });
    });
  }
  return absl::OkStatus();
}

// Completes the last dimension from its first half: element length - k is the conjugate of element
// k.
void Mirror(const RealSizes& sizes, Work& work, int64_t first) {
  const int64_t length = sizes.real.back(), half = sizes.complex.back();
  const int64_t lines = Product(sizes.real) / length;
  for (int64_t line = 0; line < lines; ++line) {
    complex128* p = &work[static_cast<size_t>(first + line * length)];
    // In the transform of real numbers, these elements are real.
    p[0] = p[0].real();
    if (length % 2 == 0) p[length / 2] = p[length / 2].real();
    for (int64_t k = half; k < length; ++k) p[k] = std::conj(p[length - k]);
  }
}

template <int kRank>
absl::Status RealInverse(KernelContext& c) {
  const Tensor& in = c.input(0);
  SLUICE_RETURN_IF_ERROR(CheckTypes(c.output_dtype(0), in.dtype()));
  SLUICE_ASSIGN_OR_RETURN(const RealSizes sizes, SizesOf<kRank>(c, true));
  const std::vector<int64_t> dims = Joined(sizes.batch, sizes.real);
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, TensorShape::Make(dims));
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
  if (in.num_elements() == 0 || out->num_elements() == 0) return absl::OkStatus();
  const std::vector<int64_t> in_dims = LastDims(in, kRank);
  // Transforms the dimensions before the last one, only for the half that is given.
  const std::vector<int64_t> half_dims = Joined(sizes.batch, sizes.complex);
  Work halves(static_cast<size_t>(Product(half_dims)));
  const int64_t real = Product(sizes.real), complex = Product(sizes.complex);
  const int64_t read = Product(in_dims), count = Product(sizes.batch);
  for (int64_t i = 0; i < count; ++i) {
    WithElements<complex64, complex128>(in, [&](const auto* p) {
      ForCorner(in_dims, sizes.complex, [&](int64_t from, int64_t to) {
        halves[static_cast<size_t>(i * complex + to)] = complex128(p[i * read + from]);
      });
    });
  }
  for (size_t d = dims.size() - kRank; d + 1 < dims.size(); ++d) {
    AlongDimension(c, half_dims, d, Direction::kInverse, halves.data());
  }
  Work work(static_cast<size_t>(Product(dims)));
  for (int64_t i = 0; i < count; ++i) {
    ForCorner(sizes.real, sizes.complex, [&](int64_t to, int64_t from) {
      work[static_cast<size_t>(i * real + to)] = halves[static_cast<size_t>(i * complex + from)];
    });
    Mirror(sizes, work, i * real);
  }
  AlongDimension(c, dims, dims.size() - 1, Direction::kInverse, work.data());
  const double scale = 1 / static_cast<double>(real);
  WithElements<float, double>(*out, [&](auto* p) {
    for (size_t i = 0; i < work.size(); ++i) {
      p[i] = static_cast<std::remove_reference_t<decltype(*p)>>(work[i].real() * scale);
    }
  });
  return absl::OkStatus();
}
KERNEL(RFFT, FunctionKernel<RealForward<1>>);
KERNEL(RFFT2D, FunctionKernel<RealForward<2>>);
KERNEL(RFFT3D, FunctionKernel<RealForward<3>>);
KERNEL(IRFFT, FunctionKernel<RealInverse<1>>);
KERNEL(IRFFT2D, FunctionKernel<RealInverse<2>>);
KERNEL(IRFFT3D, FunctionKernel<RealInverse<3>>);

}  // namespace
}  // namespace sluice
