#include "training/layers/initializers.h"

#include <algorithm>
#include <cmath>

#include "graph/build/scopes.h"
#include "graph/status.h"
#include "ops/array/shaping.h"
#include "ops/builders/operand.h"
#include "ops/linalg/builders.h"
#include "ops/math/builders.h"
#include "ops/random/random_values.h"

namespace sluice {
namespace {

// Returns the number of rows, which is the product of all sizes except the last one.
int64_t RowsOf(const TensorShape& shape) {
  int64_t rows = 1;
  for (int i = 0; i + 1 < shape.rank(); ++i) rows *= shape.dim(i);
  return rows;
}

std::vector<int64_t> Dims(const TensorShape& shape) {
  return std::vector<int64_t>(shape.dims().begin(), shape.dims().end());
}

Output Refuse(Graph& g, std::string_view what, const TensorShape& shape) {
  g.SetError(InvalidArgument(what, ", got ", shape.ToString()));
  return Output();
}

// Returns the factor Q of the QR decomposition of a random matrix. The signs of its columns are
// chosen such that R has a positive diagonal, so Q is uniformly distributed over all orthonormal
// matrices.
Output RandomOrthonormal(Graph& g, int64_t rows, int64_t columns, DataType dtype, Seed seed) {
  const TensorShape tall = {std::max(rows, columns), std::min(rows, columns)};
  const Output random = RandomNormal(g, tall, 0, 1, {.dtype = dtype, .seed = seed});
  const QrOutputs qr = Qr(random);
  if (!qr.q) return Output();
  const Output signs = Sign(DiagPart(qr.r));
  const Output q = qr.q * signs;
  if (rows >= columns) return q;
  NameScope scope(g, "matrix_transpose");
  return Transpose(q, {1, 0}, {.name = "transpose"});
}

}  // namespace

Initializer LecunUniform(Seed seed) {
  return VarianceScaling({.distribution = InitDistribution::kUniform, .seed = seed});
}
Initializer LecunNormal(Seed seed) { return VarianceScaling({.seed = seed}); }

Initializer UniformUnitScaling(double factor, Seed seed) {
  return [=](Graph& g, const TensorShape& shape, DataType dtype) {
    const double limit =
        factor * std::sqrt(3.0 / static_cast<double>(std::max<int64_t>(1, RowsOf(shape))));
    return RandomUniform(g, shape, -limit, limit, {.dtype = dtype, .seed = seed});
  };
}

Initializer IdentityInit(double gain) {
  return [gain](Graph& g, const TensorShape& shape, DataType dtype) {
    if (shape.rank() != 2) return Refuse(g, "IdentityInit: expected a matrix", shape);
    Output eye;
    {
      NameScope scope(g, "eye");
      const int64_t least = std::min(shape.dim(0), shape.dim(1));
      const Output ones = Ones(g, {least}, dtype, "ones"), zeros = Zeros(g, shape, dtype, "zeros");
      NameScope set(g, "set_diag");
      const Output diagonal = Constant(g, int32_t{0}, "k");
      eye = MatrixSetDiagV3(zeros, ones, diagonal, {.name = set.prefix()});
    }
    return gain == 1 ? eye : gain * Operand(eye);
  };
}

Initializer Orthogonal(double gain, Seed seed) {
  return [=](Graph& g, const TensorShape& shape, DataType dtype) {
    if (shape.rank() < 2) return Refuse(g, "Orthogonal: expected at least two dimensions", shape);
    const int64_t columns = shape.dim(shape.rank() - 1);
    const Output q = RandomOrthonormal(g, RowsOf(shape), columns, dtype, seed);
    return gain * Operand(Reshape(q, Dims(shape)));
  };
}

}  // namespace sluice
