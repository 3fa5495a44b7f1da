// Computes discrete Fourier transforms of one dimension, in double.
//
// It uses Eigen's kissfft for lengths with small prime factors, and for others Bluestein's
// algorithm, which uses transforms whose length is a power of two. It does not use FFTW, because
// FFTW's licence would also bind the users of Sluice.
//
// Thread safety: none, because an object has buffers.
#ifndef SLUICE_OPS_AUDIO_TRANSFORM_H_
#define SLUICE_OPS_AUDIO_TRANSFORM_H_

#include <complex>
#include <cstdint>
#include <memory>

namespace sluice {

enum class Direction { kForward, kInverse };

class Transform {
 public:
  explicit Transform(int64_t length);
  ~Transform();

  // Transforms `length` numbers in place. Does not divide the inverse by the length.
  void Run(Direction direction, std::complex<double>* data);

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

}  // namespace sluice

#endif  // SLUICE_OPS_AUDIO_TRANSFORM_H_
