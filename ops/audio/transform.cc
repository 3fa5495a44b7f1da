#include "ops/audio/transform.h"

#include <cmath>
#include <unsupported/Eigen/FFT>
#include <vector>

namespace sluice {
namespace {

using Complex = std::complex<double>;
using Vector = std::vector<Complex>;

int64_t LargestFactor(int64_t n) {
  int64_t largest = 1;
  for (int64_t p = 2; p * p <= n; ++p) {
    for (; n % p == 0; n /= p) largest = p;
  }
  return n > 1 ? n : largest;
}

// Returns exp(i pi k^2 / n). k^2 is taken modulo 2n, so that the angle stays small and exact.
Complex Chirp(int64_t k, int64_t n) {
  const int64_t square = static_cast<int64_t>(static_cast<__int128>(k) * k % (2 * n));
  const double angle = M_PI * static_cast<double>(square) / static_cast<double>(n);
  return {std::cos(angle), std::sin(angle)};
}

constexpr int64_t kLargestDirectFactor = 13;

}  // namespace

struct Transform::Plan {
  explicit Plan(int64_t n) : length(n), buffer(static_cast<size_t>(n)) {
    if (LargestFactor(n) > kLargestDirectFactor) MakeChirps();
  }

  // Prepares Bluestein's algorithm: with w = Chirp and x[j] = a[j] w[j]*, element k of the
  // transform of a is w[k]* times the convolution of x with w.
  void MakeChirps() {
    int64_t size = 1;
    while (size < 2 * length - 1) size *= 2;
    chirps.resize(static_cast<size_t>(length));
    Vector kernel(static_cast<size_t>(size));
    for (int64_t k = 0; k < length; ++k) {
      chirps[static_cast<size_t>(k)] = Chirp(k, length);
      kernel[static_cast<size_t>(k)] = chirps[static_cast<size_t>(k)];
      if (k > 0) kernel[static_cast<size_t>(size - k)] = chirps[static_cast<size_t>(k)];
    }
    padded.resize(kernel.size());
    spectrum.resize(kernel.size());
    kernel_spectrum.resize(kernel.size());
    fft.fwd(kernel_spectrum.data(), kernel.data(), static_cast<int>(size));
  }

  void Direct(bool is_inverse, Complex* data) {
    if (is_inverse) {
      fft.inv(buffer.data(), data, static_cast<int>(length));
    } else {
      fft.fwd(buffer.data(), data, static_cast<int>(length));
    }
    std::copy(buffer.begin(), buffer.end(), data);
  }

  void Convolve(bool is_inverse, Complex* data) {
    // The inverse transform is the conjugate of the forward transform of the conjugates.
    auto turned = [is_inverse](Complex z) { return is_inverse ? std::conj(z) : z; };
    std::fill(padded.begin(), padded.end(), Complex(0));
    for (size_t k = 0; k < chirps.size(); ++k) padded[k] = turned(data[k]) * std::conj(chirps[k]);
    fft.fwd(spectrum.data(), padded.data(), static_cast<int>(padded.size()));
    for (size_t k = 0; k < spectrum.size(); ++k) spectrum[k] *= kernel_spectrum[k];
    fft.inv(padded.data(), spectrum.data(), static_cast<int>(padded.size()));
    const double scale = 1 / static_cast<double>(padded.size());
    for (size_t k = 0; k < chirps.size(); ++k) {
      data[k] = turned(padded[k] * std::conj(chirps[k]) * scale);
    }
  }

  const int64_t length;
  Eigen::FFT<double> fft{Eigen::default_fft_impl<double>(), Eigen::FFT<double>::Unscaled};
  Vector buffer, chirps, padded, spectrum, kernel_spectrum;
};

Transform::Transform(int64_t length) : plan_(std::make_unique<Plan>(length)) {}
Transform::~Transform() = default;

void Transform::Run(Direction direction, std::complex<double>* data) {
  if (plan_->length <= 1) return;
  const bool is_inverse = direction == Direction::kInverse;
  if (plan_->chirps.empty()) {
    plan_->Direct(is_inverse, data);
  } else {
    plan_->Convolve(is_inverse, data);
  }
}

}  // namespace sluice
