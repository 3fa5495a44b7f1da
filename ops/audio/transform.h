// Discrete Fourier transforms of one dimension, in double.
//
// Eigen's (kissfft) for lengths of small prime factors; others by Bluestein's algorithm over one of
// a power of two. FFTW would bind whoever uses Sluice to its licence, and no other library of
// transforms is a package of Debian's.
//
// Thread safety: an object keeps tables, and is of one thread.
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

  // In place, `length` numbers; the inverse is not divided by the length.
  void Run(Direction direction, std::complex<double>* data);

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

}  // namespace sluice

#endif  // SLUICE_OPS_AUDIO_TRANSFORM_H_
