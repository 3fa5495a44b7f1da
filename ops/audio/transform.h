// Computes discrete Fourier transforms of one dimension, in double.
//
// Lengths with small prime factors use Eigen's kissfft. Other lengths use Bluestein's algorithm,
// which needs only transforms whose length is a power of two. FFTW is not used, because FFTW's
// licence would also bind the users of Sluice.
//
// Thread safety: an object may be used by one thread at a time, because it has buffers.
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

  // Transforms `length` numbers in place. The result of an inverse transform is not divided by the
  // length.
  void Run(Direction direction, std::complex<double>* data);

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

}  // namespace sluice

#endif  // SLUICE_OPS_AUDIO_TRANSFORM_H_
