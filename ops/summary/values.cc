#include "ops/summary/values.h"

#include <cmath>

#include "graph/status.h"
#include "graph/tensor/sizes.h"
#include "ops/audio/wav.h"
#include "ops/image/png.h"
#include "ops/summary/histogram.h"

namespace sluice {
namespace {

// Returns "<tag>/image" if there can be only one image, and otherwise "<tag>/image/3".
std::string TagOf(const std::string& tag, const char* kind, int64_t most, int64_t i) {
  return most > 1 ? StrCat(tag, "/", kind, "/", i) : StrCat(tag, "/", kind);
}

template <typename T>
bool IsFinitePixel(const T* pixel, int channels) {
  for (int j = 0; j < channels; ++j) {
    if (!std::isfinite(static_cast<float>(pixel[j]))) return false;
  }
  return true;
}

// Maps the values of finite pixels to bytes: value * scale + offset.
struct Range {
  float scale;
  float offset;
};

template <typename T>
Range RangeOf(const T* values, int64_t pixels, int channels) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kZero = 1e-6f;
  float low = kInfinity, high = -kInfinity;
  for (int64_t i = 0; i < pixels; ++i) {
    const T* pixel = values + i * channels;
    if (!IsFinitePixel(pixel, channels)) continue;
    for (int j = 0; j < channels; ++j) {
      low = std::min(low, static_cast<float>(pixel[j]));
      high = std::max(high, static_cast<float>(pixel[j]));
    }
  }
  if (low < 0) {
    const float largest = std::max(std::abs(low), std::abs(high));
    return {largest < kZero ? 0.0f : 127.0f / largest, 128.0f};
  }
  return {high < kZero ? 0.0f : 255.0f / high, 0.0f};
}

template <typename T>
void ToBytes(const T* values, int64_t pixels, int channels, const Tensor& bad_color, uint8_t* out) {
  const Range range = RangeOf(values, pixels, channels);
  const T scale(range.scale), offset(range.offset);
  for (int64_t i = 0; i < pixels; ++i) {
    const bool finite = IsFinitePixel(values + i * channels, channels);
    for (int j = 0; j < channels; ++j) {
      const int64_t k = i * channels + j;
      out[k] = finite ? static_cast<uint8_t>(static_cast<float>(values[k] * scale + offset))
                      : bad_color.data<uint8_t>()[j];
    }
  }
}

// Sets `out` to the pixels of image i as bytes.
void ImageBytes(const Tensor& images, int64_t i, const Tensor& bad_color,
                std::vector<uint8_t>* out) {
  const int64_t pixels = images.dim(1) * images.dim(2);
  const int channels = static_cast<int>(images.dim(3));
  const int64_t start = i * pixels * channels;
  out->resize(static_cast<size_t>(pixels * channels));
  switch (images.dtype()) {
    case DT_FLOAT:
      return ToBytes(images.data<float>() + start, pixels, channels, bad_color, out->data());
    case DT_DOUBLE:
      return ToBytes(images.data<double>() + start, pixels, channels, bad_color, out->data());
    case DT_HALF:
      return ToBytes(images.data<half>() + start, pixels, channels, bad_color, out->data());
    default:
      std::copy_n(images.data<uint8_t>() + start, out->size(), out->data());
  }
}

}  // namespace

double ElementAsDouble(const Tensor& tensor, int64_t i) {
  switch (tensor.dtype()) {
    case DT_FLOAT:
      return tensor.data<float>()[i];
    case DT_DOUBLE:
      return tensor.data<double>()[i];
    case DT_HALF:
      return static_cast<float>(tensor.data<half>()[i]);
    case DT_BFLOAT16:
      return static_cast<float>(tensor.data<bfloat16>()[i]);
    case DT_INT8:
      return tensor.data<int8_t>()[i];
    case DT_INT16:
      return tensor.data<int16_t>()[i];
    case DT_INT32:
      return tensor.data<int32_t>()[i];
    case DT_INT64:
      return static_cast<double>(tensor.data<int64_t>()[i]);
    case DT_UINT8:
      return tensor.data<uint8_t>()[i];
    case DT_UINT16:
      return tensor.data<uint16_t>()[i];
    case DT_UINT32:
      return tensor.data<uint32_t>()[i];
    case DT_UINT64:
      return static_cast<double>(tensor.data<uint64_t>()[i]);
    case DT_BOOL:
      return tensor.data<bool>()[i] ? 1 : 0;
    default:
      return std::numeric_limits<double>::quiet_NaN();
  }
}

absl::Status AddHistogram(const Tensor& values, const std::string& tag, const std::string& name,
                          pb::Summary* summary) {
  Histogram histogram;
  for (int64_t i = 0; i < values.num_elements(); ++i) {
    const double value = ElementAsDouble(values, i);
    SLUICE_INVALID_IF(std::isnan(value), "Nan in summary histogram for: ", name);
    SLUICE_INVALID_IF(std::isinf(value), "Infinity in Histogram for: ", name);
    histogram.Add(value);
  }
  pb::Summary::Value* entry = summary->add_value();
  entry->set_tag(tag);
  histogram.ToProto(entry->mutable_histo());
  return absl::OkStatus();
}

namespace {

absl::Status CheckImages(const Tensor& images) {
  SLUICE_INVALID_IF(
      images.rank() != 4 || (images.dim(3) != 1 && images.dim(3) != 3 && images.dim(3) != 4),
      "Tensor must be 4-D with last dim 1, 3, or 4, not ", images.shape().ToString());
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  SLUICE_INVALID_IF(images.dim(0) >= kMost ||
                        SaturatedProduct(images.dim(1), images.dim(2)) >= kMost ||
                        images.dim(3) >= kMost,
                    "Tensor too large for summary ", images.shape().ToString());
  return absl::OkStatus();
}

}  // namespace

absl::Status AddImages(const Tensor& images, const std::string& tag, int64_t max_images,
                       const Tensor& bad_color, pb::Summary* summary) {
  SLUICE_RETURN_IF_ERROR(CheckImages(images));
  const ImageSize size = {images.dim(1), images.dim(2), static_cast<int>(images.dim(3))};
  SLUICE_INVALID_IF(images.dtype() != DT_UINT8 && bad_color.num_elements() < size.channels,
                    "expected depth <= bad_color.size, got depth = ", size.channels,
                    ", bad_color.size = ", bad_color.num_elements());
  const int64_t count = std::min(max_images, images.dim(0));
  SLUICE_INVALID_IF(count > 0 && images.num_elements() == 0,
                    "input tensor must have non-zero dims. Found: ", images.shape().ToString());
  std::vector<uint8_t> pixels;
  for (int64_t i = 0; i < count; ++i) {
    ImageBytes(images, i, bad_color, &pixels);
    SLUICE_ASSIGN_OR_RETURN(std::string encoded, EncodePng(pixels.data(), size, 8));
    pb::Summary::Value* entry = summary->add_value();
    entry->set_tag(TagOf(tag, "image", max_images, i));
    pb::Summary::Image* image = entry->mutable_image();
    image->set_height(static_cast<int32_t>(size.height));
    image->set_width(static_cast<int32_t>(size.width));
    image->set_colorspace(size.channels);
    image->set_encoded_image_string(std::move(encoded));
  }
  return absl::OkStatus();
}

absl::Status AddAudio(const Tensor& samples, const std::string& tag, int64_t max_outputs,
                      float sample_rate, pb::Summary* summary) {
  SLUICE_INVALID_IF(samples.rank() != 2 && samples.rank() != 3,
                    "Tensor must be 3-D or 2-D, got: ", samples.shape().ToString());
  SLUICE_INVALID_IF(!(sample_rate > 0.0f), "sample_rate must be > 0");
  const int64_t frames = samples.dim(1);
  const int64_t channels = samples.rank() == 3 ? samples.dim(2) : 1;
  const int64_t count = std::min(max_outputs, samples.dim(0));
  // Limits the number of sounds without samples, because they take memory only when they are
  // encoded.
  constexpr int64_t kMostSilent = int64_t{1} << 20;
  SLUICE_INVALID_IF(samples.num_elements() == 0 && count > kMostSilent,
                    "Tensor too large for summary ", samples.shape().ToString());
  // Clamps the rate, so that its conversion is defined. EncodeWav rejects the upper limit. As in
  // TensorFlow, the file has rate 1 if the rate is lower than 1.
  const auto rate = static_cast<int64_t>(std::clamp(sample_rate, 1.0f, 1e12f));
  for (int64_t i = 0; i < count; ++i) {
    SLUICE_ASSIGN_OR_RETURN(std::string encoded,
                            EncodeWav({samples.data<float>() + i * frames * channels,
                                       static_cast<size_t>(frames * channels)},
                                      rate, channels));
    pb::Summary::Value* entry = summary->add_value();
    entry->set_tag(TagOf(tag, "audio", max_outputs, i));
    pb::Summary::Audio* audio = entry->mutable_audio();
    audio->set_sample_rate(sample_rate);
    audio->set_num_channels(channels);
    audio->set_length_frames(frames);
    audio->set_encoded_audio_string(std::move(encoded));
    audio->set_content_type("audio/wav");
  }
  return absl::OkStatus();
}

}  // namespace sluice
