// Kernels that decode and encode image files.
#include <algorithm>
#include <limits>

#include "executor/kernel/context.h"
#include "graph/ir/graph.h"
#include "graph/status.h"
#include "ops/image/bmp.h"
#include "ops/image/gif.h"
#include "ops/image/jpeg.h"
#include "ops/image/png.h"

namespace sluice {
namespace {

absl::StatusOr<std::string_view> Contents(const KernelContext& c) {
  SLUICE_RETURN_IF_ERROR(ExpectRank(c.input(0), 0, "`contents` must be scalar but got shape"));
  return std::string_view(c.input(0).scalar<std::string>());
}

TensorShape ShapeOf(const ImageSize& size) { return {size.height, size.width, size.channels}; }

// Scales bytes to the range of a wider type.
void Widen(const Tensor& bytes, Tensor* out) {
  const auto from = bytes.flat<uint8_t>();
  if (out->dtype() == DT_UINT16) {
    std::transform(from.begin(), from.end(), out->data<uint16_t>(),
                   [](uint8_t v) { return static_cast<uint16_t>(v * 256); });
  } else {
    std::transform(from.begin(), from.end(), out->data<float>(),
                   [](uint8_t v) { return static_cast<float>(v) * (1.0f / 255.0f); });
  }
}

absl::StatusOr<int> IntAttrOr(const KernelInit& init, const char* name, int fallback) {
  const int64_t value = init.AttrOr<int64_t>(name, fallback);
  SLUICE_INVALID_IF(
      value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max(), "Attr ",
      name, " has value ", value, " out of range for an int32");
  return static_cast<int>(value);
}

absl::StatusOr<JpegDecodeOptions> JpegOptionsOf(const KernelInit& init) {
  JpegDecodeOptions options;
  SLUICE_ASSIGN_OR_RETURN(options.channels, IntAttrOr(init, "channels", 0));
  SLUICE_ASSIGN_OR_RETURN(options.ratio, IntAttrOr(init, "ratio", 1));
  options.fancy_upscaling = init.AttrOr<bool>("fancy_upscaling", true);
  options.try_recover_truncated = init.AttrOr<bool>("try_recover_truncated", false);
  options.acceptable_fraction = init.AttrOr<float>("acceptable_fraction", 1.0f);
  const std::string dct = init.AttrOr<std::string>("dct_method", "");
  SLUICE_INVALID_IF(
      options.ratio != 1 && options.ratio != 2 && options.ratio != 4 && options.ratio != 8,
      "ratio must be 1, 2, 4, or 8, got ", options.ratio);
  SLUICE_INVALID_IF(!dct.empty() && dct != "INTEGER_FAST" && dct != "INTEGER_ACCURATE",
                    "dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}, got '",
                    dct, "'");
  options.fast_dct = dct != "INTEGER_ACCURATE";  // TensorFlow's default is the fast one
  return options;
}

// The kernel of all Decode… ops. The contents of the file determine its format. An op also accepts
// other formats than the one in its name, if the result has the op's shape.
class DecodeImageKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    SLUICE_ASSIGN_OR_RETURN(JpegDecodeOptions jpeg, JpegOptionsOf(init));
    const int channels = jpeg.channels;
    const std::string& op = init.node().op();
    const bool is_allowed = channels == 0 || channels == 1 || channels == 3 || channels == 4;
    SLUICE_INVALID_IF(!is_allowed || (op == "DecodeAndCropJpeg" && channels == 4),
                      "`channels` must be 0, 1, 3 or 4 but got ", channels);
    return std::unique_ptr<Kernel>(new DecodeImageKernel(init, jpeg));
  }

  absl::Status Compute(KernelContext& c) override {
    SLUICE_ASSIGN_OR_RETURN(const std::string_view bytes, Contents(c));
    if (IsJpeg(bytes)) return Jpeg(c, bytes);
    if (IsPng(bytes)) return Png(c, bytes);
    if (IsGif(bytes)) return Gif(c, bytes);
    if (IsBmp(bytes)) return Bmp(c, bytes);
    SLUICE_INVALID_IF(bytes.empty(), "Input is empty.");
    return InvalidArgument("Unknown image file format. One of JPEG, PNG, GIF, BMP required.");
  }

 private:
  DecodeImageKernel(const KernelInit& init, JpegDecodeOptions jpeg)
      : jpeg_(jpeg),
        op_(init.node().op()),
        expand_animations_(init.AttrOr<bool>("expand_animations", op_ == "DecodeGif")) {}

  absl::Status WrongOp(const char* format, const char* own_op) const {
    SLUICE_INVALID_IF(op_ == "DecodeAndCropJpeg",
                      "DecodeAndCropJpeg operation can run on JPEG only, but detected ", format,
                      ".");
    return InvalidArgument("Trying to decode ", format, " format using ",
                           op_ == "DecodeBmp" ? "DecodeBmp op" : "a wrong op", ". Use `", own_op,
                           "` or `decode_image` instead. Op used: ", op_);
  }

  absl::Status Jpeg(KernelContext& c, std::string_view bytes) const {
    if (op_ == "DecodeBmp") return WrongOp("JPEG", "decode_jpeg");
    SLUICE_INVALID_IF(jpeg_.channels == 4, "JPEG does not support 4 channels");
    JpegDecodeOptions options = jpeg_;
    if (op_ == "DecodeAndCropJpeg") {
      const Tensor& window = c.input(1);
      SLUICE_INVALID_IF(!window.shape().IsVector() || window.dim(0) != 4,
                        "crop_window must be 4 elements, got shape ", window.shape().ToString());
      const int32_t* w = window.data<int32_t>();
      options.crop = CropWindow{w[0], w[1], w[2], w[3]};
    }
    return Finish(c, [&](auto place) { return sluice::DecodeJpeg(bytes, options, place); });
  }

  absl::Status Png(KernelContext& c, std::string_view bytes) const {
    if (op_ == "DecodeBmp" || op_ == "DecodeAndCropJpeg") return WrongOp("PNG", "decode_png");
    const DataType type = c.output_dtype(0);
    if (type == DT_UINT8) {
      return Finish(c,
                    [&](auto place) { return sluice::DecodePng(bytes, jpeg_.channels, 8, place); });
    }
    // Keeps all 16 bits. Floating-point pixels are between 0 and 1.
    Tensor wide;
    SLUICE_RETURN_IF_ERROR(sluice::DecodePng(
        bytes, jpeg_.channels, 16, [&](const ImageSize& size) -> absl::StatusOr<void*> {
          SLUICE_ASSIGN_OR_RETURN(wide, c.AllocateTemp(DT_UINT16, ShapeOf(size)));
          return wide.raw();
        }));
    AddFrames(&wide);
    if (type == DT_UINT16) {
      c.set_output(0, std::move(wide));
      return absl::OkStatus();
    }
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, wide.shape()));
    const auto from = wide.flat<uint16_t>();
    std::transform(from.begin(), from.end(), out->data<float>(),
                   [](uint16_t v) { return static_cast<float>(v) * (1.0f / 65535.0f); });
    return absl::OkStatus();
  }

  absl::Status Bmp(KernelContext& c, std::string_view bytes) const {
    if (op_ != "DecodeBmp" && op_ != "DecodeImage") return WrongOp("BMP", "decode_bmp");
    return Finish(c, [&](auto place) { return sluice::DecodeBmp(bytes, jpeg_.channels, place); });
  }

  absl::Status Gif(KernelContext& c, std::string_view bytes) const {
    if (op_ == "DecodeBmp" || op_ == "DecodeAndCropJpeg") return WrongOp("GIF", "decode_gif");
    SLUICE_INVALID_IF(jpeg_.channels != 0 && jpeg_.channels != 3,
                      "channels must be 0 or 3 for GIF, got ", jpeg_.channels);
    const bool many = op_ == "DecodeGif" || (op_ == "DecodeImage" && expand_animations_);
    Tensor pixels;
    int64_t found = 0;
    SLUICE_RETURN_IF_ERROR(sluice::DecodeGif(
        bytes, op_ == "DecodeImage" && !expand_animations_ ? 1 : 0,
        [&](int64_t frames, const ImageSize& size) -> absl::StatusOr<uint8_t*> {
          found = frames;
          const TensorShape shape = many ? TensorShape({frames, size.height, size.width, 3})
                                         : TensorShape({frames * size.height, size.width, 3});
          SLUICE_ASSIGN_OR_RETURN(pixels, c.AllocateTemp(DT_UINT8, shape));
          return pixels.data<uint8_t>();
        }));
    SLUICE_INVALID_IF(!many && found > 1, "Got ", found,
                      " frames, but animated gifs can only be decoded by tf.io.decode_gif or "
                      "tf.io.decode_image");
    return Output(c, std::move(pixels));
  }

  template <typename Decode>
  absl::Status Finish(KernelContext& c, Decode decode) const {
    Tensor pixels;
    const auto place = [&](const ImageSize& size) -> absl::StatusOr<void*> {
      SLUICE_ASSIGN_OR_RETURN(pixels, c.AllocateTemp(DT_UINT8, ShapeOf(size)));
      return pixels.raw();
    };
    SLUICE_RETURN_IF_ERROR(
        decode(absl::FunctionRef<absl::StatusOr<void*>(const ImageSize&)>(place)));
    AddFrames(&pixels);
    return Output(c, std::move(pixels));
  }

  // Adds the dimension for frames, which the result of DecodeGif has for files of any format.
  void AddFrames(Tensor* pixels) const {
    if (op_ != "DecodeGif") return;
    TensorShape shape = pixels->shape();
    shape.InsertDim(0, 1);
    *pixels = pixels->Reshaped(shape);
  }

  static absl::Status Output(KernelContext& c, Tensor pixels) {
    if (c.output_dtype(0) == DT_UINT8) {
      c.set_output(0, std::move(pixels));
      return absl::OkStatus();
    }
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, pixels.shape()));
    Widen(pixels, out);
    return absl::OkStatus();
  }

  const JpegDecodeOptions jpeg_;
  const std::string op_;
  const bool expand_animations_;
};
KERNEL(DecodeAndCropJpeg, DecodeImageKernel);
KERNEL(DecodeBmp, DecodeImageKernel);
KERNEL(DecodeGif, DecodeImageKernel);
KERNEL(DecodeImage, DecodeImageKernel);
KERNEL(DecodeJpeg, DecodeImageKernel);
KERNEL(DecodePng, DecodeImageKernel);

class EncodePngKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    const auto compression = init.attr<int64_t>("compression");
    SLUICE_INVALID_IF(compression < -1 || compression > 9, "compression should be in [-1,9], got ",
                      compression);
    return std::unique_ptr<Kernel>(new EncodePngKernel(static_cast<int>(compression)));
  }

  // Encodes any number of images. The last three dimensions of the input are those of an image.
  absl::Status Compute(KernelContext& c) override {
    const Tensor& images = c.input(0);
    SLUICE_INVALID_IF(images.rank() < 3, "images must be at least rank 3, got ",
                      images.shape().ToString());
    const int rank = images.rank();
    const int64_t channels = images.dim(rank - 1);
    if (images.num_elements() == 0) {
      return absl::InternalError(
          StrCat("PNG encoding failed at the following flattened batch indices: 0, got images of "
                 "shape ",
                 images.shape().ToString()));
    }
    SLUICE_INVALID_IF(channels < 1 || channels > 4, "image must have 1, 2, 3, or 4 channels, got ",
                      channels);
    const ImageSize size = {images.dim(rank - 3), images.dim(rank - 2), static_cast<int>(channels)};
    const int bits = images.dtype() == DT_UINT8 ? 8 : 16;
    SLUICE_ASSIGN_OR_RETURN(
        Tensor * out, c.AllocateOutput(0, TensorShape(images.shape().dims().subspan(0, rank - 3))));
    const size_t bytes = images.bytes() / static_cast<size_t>(out->num_elements());
    for (int64_t i = 0; i < out->num_elements(); ++i) {
      const char* pixels = static_cast<const char*>(images.raw()) + static_cast<size_t>(i) * bytes;
      SLUICE_ASSIGN_OR_RETURN(out->data<std::string>()[i],
                              sluice::EncodePng(pixels, size, bits, compression_));
    }
    return absl::OkStatus();
  }

 private:
  explicit EncodePngKernel(int compression) : compression_(compression) {}
  const int compression_;
};
KERNEL(EncodePng, EncodePngKernel);

// Checks an image. `expected` is the number of channels of the requested format, or 0 if any is
// allowed.
absl::Status CheckJpegImage(const Tensor& image, int64_t expected) {
  SLUICE_RETURN_IF_ERROR(ExpectRank(image, 3, "image must be 3-dimensional"));
  const int64_t channels = image.dim(2);
  SLUICE_INVALID_IF(channels != 1 && channels != 3, "image must have 1 or 3 channels, got shape ",
                    image.shape().ToString());
  SLUICE_INVALID_IF(expected != 0 && channels != expected, "format ",
                    expected == 3 ? "rgb" : "grayscale", " expects ", expected,
                    " channels, got shape ", image.shape().ToString());
  SLUICE_INVALID_IF(image.num_elements() == 0 || image.dim(0) > 65535 || image.dim(1) > 65535,
                    "expected an image of 1 to 65535 lines and columns, got shape ",
                    image.shape().ToString());
  return absl::OkStatus();
}

class EncodeJpegKernel : public Kernel {
 public:
  static absl::StatusOr<std::unique_ptr<Kernel>> Make(KernelInit& init) {
    JpegEncodeOptions options;
    SLUICE_ASSIGN_OR_RETURN(options.quality, IntAttrOr(init, "quality", 95));
    options.progressive = init.AttrOr<bool>("progressive", false);
    options.optimize_size = init.AttrOr<bool>("optimize_size", false);
    options.chroma_downsampling = init.AttrOr<bool>("chroma_downsampling", true);
    options.density_in_inches = init.AttrOr<std::string>("density_unit", "in") == "in";
    SLUICE_ASSIGN_OR_RETURN(options.x_density, IntAttrOr(init, "x_density", 300));
    SLUICE_ASSIGN_OR_RETURN(options.y_density, IntAttrOr(init, "y_density", 300));
    options.xmp_metadata = init.AttrOr<std::string>("xmp_metadata", "");
    SLUICE_RETURN_IF_ERROR(CheckQuality(options.quality));
    const std::string format = init.AttrOr<std::string>("format", "");
    const int channels = format.empty() ? 0 : format == "rgb" ? 3 : 1;
    return std::unique_ptr<Kernel>(new EncodeJpegKernel(options, channels));
  }

  absl::Status Compute(KernelContext& c) override {
    const Tensor& image = c.input(0);
    SLUICE_RETURN_IF_ERROR(CheckJpegImage(image, channels_));
    const int64_t channels = image.dim(2);
    JpegEncodeOptions options = options_;
    if (c.num_inputs() == 2) {
      SLUICE_RETURN_IF_ERROR(ExpectRank(c.input(1), 0, "quality must be scalar: "));
      options.quality = c.input(1).scalar<int32_t>();
      SLUICE_RETURN_IF_ERROR(CheckQuality(options.quality));
    }
    const ImageSize size = {image.dim(0), image.dim(1), static_cast<int>(channels)};
    SLUICE_ASSIGN_OR_RETURN(std::string bytes,
                            sluice::EncodeJpeg(image.data<uint8_t>(), size, options));
    c.set_output(0, Tensor::Scalar(std::move(bytes)));
    return absl::OkStatus();
  }

 private:
  EncodeJpegKernel(JpegEncodeOptions options, int channels)
      : options_(std::move(options)), channels_(channels) {}
  static absl::Status CheckQuality(int quality) {
    if (quality >= 0 && quality <= 100) return absl::OkStatus();
    return InvalidArgument("quality must be in [0,100], got ", quality);
  }
  const JpegEncodeOptions options_;
  const int channels_;  // number that the format requires, or 0 for any
};
KERNEL(EncodeJpeg, EncodeJpegKernel);
KERNEL(EncodeJpegVariableQuality, EncodeJpegKernel);

template <typename T>
absl::Status ExtractJpegShape(KernelContext& c) {
  SLUICE_ASSIGN_OR_RETURN(const std::string_view bytes, Contents(c));
  SLUICE_ASSIGN_OR_RETURN(const ImageSize size, JpegSize(bytes));
  c.set_output(0, Tensor::Vector<T>({static_cast<T>(size.height), static_cast<T>(size.width),
                                     static_cast<T>(size.channels)}));
  return absl::OkStatus();
}
FUNCTION_KERNELS(ExtractJpegShape, "output_type", ExtractJpegShape, IndexList);

}  // namespace
}  // namespace sluice
