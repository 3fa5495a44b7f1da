#include "demos/data/idx.h"

#include <zlib.h>

#include <cstring>
#include <memory>

#include "graph/status.h"
#include "graph/tensor/buffer.h"

namespace sluice::demos {
namespace {

constexpr int kUint8 = 8;
constexpr int kMaxRank = 4;
constexpr int64_t kMaxElements = int64_t{1} << 31;

struct CloseFile {
  void operator()(gzFile_s* f) const { gzclose(f); }
};

absl::Status ReadExactly(gzFile file, void* to, int64_t bytes, const std::string& path) {
  char* at = static_cast<char*>(to);
  while (bytes > 0) {
    const int n = gzread(file, at, static_cast<unsigned>(std::min<int64_t>(bytes, 1 << 30)));
    if (n <= 0)
      return absl::DataLossError(StrCat("'", path, "' ends early: ", bytes, " bytes less"));
    at += n;
    bytes -= n;
  }
  return absl::OkStatus();
}

absl::StatusOr<TensorShape> ReadShape(gzFile file, const std::string& path) {
  unsigned char magic[4];
  SLUICE_RETURN_IF_ERROR(ReadExactly(file, magic, 4, path));
  if (magic[0] != 0 || magic[1] != 0 || magic[2] != kUint8 || magic[3] > kMaxRank) {
    return absl::DataLossError(StrCat("'", path, "' is not an IDX file of bytes"));
  }
  std::vector<int64_t> dims;
  for (int i = 0; i < magic[3]; ++i) {
    unsigned char size[4];
    SLUICE_RETURN_IF_ERROR(ReadExactly(file, size, 4, path));
    dims.push_back(int64_t{size[0]} << 24 | size[1] << 16 | size[2] << 8 | size[3]);
  }
  SLUICE_ASSIGN_OR_RETURN(TensorShape shape, TensorShape::Make(dims));
  if (shape.num_elements() > kMaxElements) {
    return absl::DataLossError(StrCat("'", path, "' claims to hold ", shape.ToString()));
  }
  return shape;
}

absl::StatusOr<Dataset> ToDataset(const Tensor& images, const Tensor& labels) {
  if (images.rank() != 3 || labels.rank() != 1 || images.dim(0) != labels.dim(0)) {
    return absl::DataLossError(
        StrCat("images are ", images.shape().ToString(), ", labels ", labels.shape().ToString()));
  }
  TensorShape with_channel = images.shape();
  with_channel.AddDim(1);
  Dataset data;
  SLUICE_ASSIGN_OR_RETURN(data.images, Tensor::Allocate(Heap(), DT_FLOAT, with_channel));
  SLUICE_ASSIGN_OR_RETURN(data.labels, Tensor::Allocate(Heap(), DT_INT32, labels.shape()));
  for (int64_t i = 0; i < images.num_elements(); ++i) {
    data.images.data<float>()[i] = static_cast<float>(images.data<uint8_t>()[i]) / 255.0f;
  }
  for (int64_t i = 0; i < labels.num_elements(); ++i) {
    data.labels.data<int32_t>()[i] = labels.data<uint8_t>()[i];
  }
  return data;
}

}  // namespace

absl::StatusOr<Tensor> ReadIdx(const std::string& path) {
  std::unique_ptr<gzFile_s, CloseFile> file(gzopen(path.c_str(), "rb"));
  if (file == nullptr) return absl::NotFoundError(StrCat("no file '", path, "'"));
  SLUICE_ASSIGN_OR_RETURN(const TensorShape shape, ReadShape(file.get(), path));
  SLUICE_ASSIGN_OR_RETURN(Tensor data, Tensor::Allocate(Heap(), DT_UINT8, shape));
  SLUICE_RETURN_IF_ERROR(
      ReadExactly(file.get(), data.raw(), static_cast<int64_t>(data.bytes()), path));
  return data;
}

absl::StatusOr<TrainAndTest> LoadFashionMnist(const std::string& folder) {
  Tensor parts[4];
  const char* names[4] = {"train-images-idx3", "train-labels-idx1", "t10k-images-idx3",
                          "t10k-labels-idx1"};
  for (int i = 0; i < 4; ++i) {
    absl::StatusOr<Tensor> part = ReadIdx(StrCat(folder, "/", names[i], "-ubyte.gz"));
    if (absl::IsNotFound(part.status())) part = ReadIdx(StrCat(folder, "/", names[i], "-ubyte"));
    if (absl::IsNotFound(part.status())) {
      return AnnotateAfter(
          part.status(),
          "; Fashion-MNIST is Debian's package dataset-fashion-mnist (`apt install "
          "dataset-fashion-mnist`), or give --data=FOLDER");
    }
    SLUICE_RETURN_IF_ERROR(part.status());
    parts[i] = *std::move(part);
  }
  SLUICE_ASSIGN_OR_RETURN(Dataset train, ToDataset(parts[0], parts[1]));
  SLUICE_ASSIGN_OR_RETURN(Dataset test, ToDataset(parts[2], parts[3]));
  return TrainAndTest{std::move(train), std::move(test)};
}

Dataset Gather(const Dataset& data, absl::Span<const int64_t> rows) {
  TensorShape shape = data.images.shape();
  shape.set_dim(0, static_cast<int64_t>(rows.size()));
  Dataset batch{Tensor(DT_FLOAT, shape), Tensor(DT_INT32, {static_cast<int64_t>(rows.size())})};
  const int64_t pixels = data.images.num_elements() / std::max<int64_t>(data.images.dim(0), 1);
  for (size_t i = 0; i < rows.size(); ++i) {
    std::copy_n(data.images.data<float>() + rows[i] * pixels, pixels,
                batch.images.data<float>() + static_cast<int64_t>(i) * pixels);
    batch.labels.data<int32_t>()[i] = data.labels.data<int32_t>()[rows[i]];
  }
  return batch;
}

}  // namespace sluice::demos
