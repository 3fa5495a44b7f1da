#include "ops/image/jpeg.h"

#include <algorithm>
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <vector>

// These headers need <cstdio>.
#include <jerror.h>
#include <jpeglib.h>

#include "graph/status.h"

namespace sluice {
namespace {

struct Trouble {
  jpeg_error_mgr manager;  // must be the first member, because libjpeg points to it
  std::jmp_buf jump;
  char text[JMSG_LENGTH_MAX] = "";
};

[[noreturn]] void OnError(j_common_ptr info) {
  auto* trouble = reinterpret_cast<Trouble*>(info->err);
  info->err->format_message(info, trouble->text);
  std::longjmp(trouble->jump, 1);
}
void OnMessage(j_common_ptr) {}

jpeg_error_mgr* Quiet(Trouble* trouble) {
  jpeg_error_mgr* manager = jpeg_std_error(&trouble->manager);
  manager->error_exit = OnError;
  manager->output_message = OnMessage;
  return manager;
}

// Reads bytes from memory. After their end, it reads end-of-image marks forever.
struct Source {
  jpeg_source_mgr manager;  // must be the first member
  bool ran_out = false;
};

void StartSource(j_decompress_ptr) {}
boolean MoreInput(j_decompress_ptr info) {
  static const JOCTET kEnd[] = {0xff, JPEG_EOI};
  auto* source = reinterpret_cast<Source*>(info->src);
  source->ran_out = true;
  source->manager.next_input_byte = kEnd;
  source->manager.bytes_in_buffer = sizeof kEnd;
  return TRUE;
}
void SkipInput(j_decompress_ptr info, long count) {
  jpeg_source_mgr* source = info->src;
  if (count <= 0) return;
  if (static_cast<size_t>(count) > source->bytes_in_buffer) {
    MoreInput(info);
    return;
  }
  source->next_input_byte += count;
  source->bytes_in_buffer -= static_cast<size_t>(count);
}
void EndSource(j_decompress_ptr) {}

// Owns libjpeg's objects. The destructor runs even after a longjmp, because the functions that jump
// have no local objects with destructors.
struct Decoder {
  explicit Decoder(std::string_view bytes) {
    info.err = Quiet(&trouble);
    jpeg_create_decompress(&info);
    source.manager.next_input_byte = reinterpret_cast<const JOCTET*>(bytes.data());
    source.manager.bytes_in_buffer = bytes.size();
    source.manager.init_source = StartSource;
    source.manager.fill_input_buffer = MoreInput;
    source.manager.skip_input_data = SkipInput;
    source.manager.resync_to_restart = jpeg_resync_to_restart;
    source.manager.term_source = EndSource;
    info.src = &source.manager;
  }
  ~Decoder() { jpeg_destroy_decompress(&info); }
  jpeg_decompress_struct info = {};
  Trouble trouble;
  Source source = {};
};

bool ReadHeader(Decoder& d) {
  if (setjmp(d.trouble.jump) != 0) return false;
  return jpeg_read_header(&d.info, TRUE) == JPEG_HEADER_OK;
}

// Computes the size of the output, without allocating memory for it. Returns false after an error.
bool SetOutput(Decoder& d, const JpegDecodeOptions& options) {
  if (setjmp(d.trouble.jump) != 0) return false;
  const int channels =
      options.channels != 0 ? options.channels : std::min(d.info.num_components, 3);
  // Decodes inks as CMYK, because libjpeg does not convert CMYK to RGB. FromInks does.
  const bool is_inks = d.info.jpeg_color_space == JCS_CMYK || d.info.jpeg_color_space == JCS_YCCK;
  d.info.out_color_space = is_inks ? JCS_CMYK : channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  d.info.do_fancy_upsampling = options.fancy_upscaling ? TRUE : FALSE;
  d.info.scale_num = 1;
  d.info.scale_denom = static_cast<unsigned>(options.ratio);
  d.info.dct_method = options.fast_dct ? JDCT_IFAST : JDCT_ISLOW;
  jpeg_calc_output_dimensions(&d.info);
  return true;
}

// An image of several scans needs memory for all its pixels, even if the output is smaller.
absl::Status CheckPixels(j_decompress_ptr info) {
  const bool is_whole = jpeg_has_multiple_scans(info) != FALSE;
  const int64_t width = is_whole ? info->image_width : info->output_width;
  const int64_t height = is_whole ? info->image_height : info->output_height;
  SLUICE_INVALID_IF(width * height > kMaxPixels,
                    "Invalid JPEG data or crop window: expected at most ", kMaxPixels,
                    " pixels, got ", width, " by ", height);
  return absl::OkStatus();
}

// Reads all scans of an image that has several. Returns false after an error.
bool Start(Decoder& d) {
  if (setjmp(d.trouble.jump) != 0) return false;
  jpeg_start_decompress(&d.info);
  return true;
}

// Decodes the next line. Returns false after an error.
bool ReadLine(Decoder& d, JSAMPLE* line) {
  if (setjmp(d.trouble.jump) != 0) return false;
  return jpeg_read_scanlines(&d.info, &line, 1) == 1;
}

// Converts CMYK to RGB or grey. Files from Adobe's programs store inverted inks.
void FromInks(const uint8_t* inks, int64_t pixels, bool is_inverted, int channels, uint8_t* out) {
  for (int64_t i = 0; i < pixels; ++i) {
    int rgb[3];
    const int black = inks[4 * i + 3];
    for (int j = 0; j < 3; ++j) {
      const int ink = inks[4 * i + j];
      rgb[j] = is_inverted ? black * ink / 255 : (255 - black) * (255 - ink) / 255;
    }
    if (channels == 3) {
      for (int j = 0; j < 3; ++j) out[3 * i + j] = static_cast<uint8_t>(rgb[j]);
    } else {
      out[i] = static_cast<uint8_t>((299 * rgb[0] + 587 * rgb[1] + 114 * rgb[2] + 500) / 1000);
    }
  }
}

absl::Status Invalid(const char* text) {
  return InvalidArgument("Invalid JPEG data or crop window: ", text);
}

absl::StatusOr<CropWindow> WindowOf(const Decoder& d, const JpegDecodeOptions& options) {
  const CropWindow whole = {0, 0, d.info.output_height, d.info.output_width};
  if (!options.crop.has_value()) return whole;
  const CropWindow& w = *options.crop;
  if (w.y < 0 || w.x < 0 || w.height <= 0 || w.width <= 0 || w.y + w.height > whole.height ||
      w.x + w.width > whole.width) {
    return Invalid("the window lies outside the image");
  }
  return w;
}

// Decodes lines to `pixels` until the end or an error. Returns the number of lines.
int64_t ReadLines(Decoder& d, const CropWindow& window, int channels, uint8_t* pixels) {
  const int parts = d.info.output_components;
  std::vector<JSAMPLE> line(static_cast<size_t>(d.info.output_width) * parts);
  const int64_t row = window.width * channels;
  for (int64_t y = 0; y < window.y + window.height; ++y) {
    if (!ReadLine(d, line.data())) return std::max<int64_t>(y - window.y, 0);
    if (y < window.y) continue;
    uint8_t* out = pixels + (y - window.y) * row;
    const JSAMPLE* from = line.data() + window.x * parts;
    if (parts == 4) {
      FromInks(from, window.width, d.info.saw_Adobe_marker != 0, channels, out);
    } else {
      std::memcpy(out, from, static_cast<size_t>(row));
    }
  }
  return window.height;
}

bool Compress(jpeg_compress_struct* info, Trouble& trouble, const uint8_t* pixels,
              const ImageSize& size, const JpegEncodeOptions& options, unsigned char** out,
              unsigned long* out_size) {
  if (setjmp(trouble.jump) != 0) return false;
  jpeg_mem_dest(info, out, out_size);
  info->image_width = static_cast<JDIMENSION>(size.width);
  info->image_height = static_cast<JDIMENSION>(size.height);
  info->input_components = size.channels;
  info->in_color_space = size.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(info);
  if (options.optimize_size) info->optimize_coding = TRUE;
  info->density_unit = options.density_in_inches ? 1 : 2;
  info->X_density = static_cast<UINT16>(options.x_density);
  info->Y_density = static_cast<UINT16>(options.y_density);
  jpeg_set_quality(info, options.quality, TRUE);
  if (options.progressive) jpeg_simple_progression(info);
  if (!options.chroma_downsampling) {
    for (int i = 0; i < info->num_components; ++i) {
      info->comp_info[i].h_samp_factor = info->comp_info[i].v_samp_factor = 1;
    }
  }
  jpeg_start_compress(info, TRUE);
  if (!options.xmp_metadata.empty()) {
    static const char kNamespace[] = "http://ns.adobe.com/xap/1.0/";  // includes the final zero
    const size_t total = sizeof kNamespace + options.xmp_metadata.size();
    jpeg_write_m_header(info, JPEG_APP0 + 1, static_cast<unsigned>(total));
    for (char c : kNamespace) jpeg_write_m_byte(info, c);
    for (char c : options.xmp_metadata) jpeg_write_m_byte(info, static_cast<unsigned char>(c));
  }
  for (int64_t y = 0; y < size.height; ++y) {
    // libjpeg does not write to the line, although its signature lacks a const.
    JSAMPROW line = const_cast<uint8_t*>(pixels + y * size.width * size.channels);
    jpeg_write_scanlines(info, &line, 1);
  }
  jpeg_finish_compress(info);
  return true;
}

}  // namespace

absl::StatusOr<ImageSize> JpegSize(std::string_view bytes) {
  Decoder d(bytes);
  SLUICE_INVALID_IF(!ReadHeader(d), "Invalid JPEG data, size ", bytes.size());
  return ImageSize{d.info.image_height, d.info.image_width, d.info.num_components};
}

absl::Status DecodeJpeg(std::string_view bytes, const JpegDecodeOptions& options,
                        absl::FunctionRef<absl::StatusOr<void*>(const ImageSize&)> place) {
  Decoder d(bytes);
  if (!ReadHeader(d) || !SetOutput(d, options)) return Invalid(d.trouble.text);
  SLUICE_RETURN_IF_ERROR(CheckPixels(&d.info));
  if (!Start(d)) return Invalid(d.trouble.text);
  const int parts = d.info.output_components;
  const int channels = parts == 4 ? (options.channels == 1 ? 1 : 3) : parts;
  SLUICE_ASSIGN_OR_RETURN(const CropWindow window, WindowOf(d, options));
  const ImageSize size = {window.height, window.width, channels};
  SLUICE_ASSIGN_OR_RETURN(void* const memory, place(size));
  auto* pixels = static_cast<uint8_t*>(memory);
  const int64_t lines = ReadLines(d, window, channels, pixels);
  const bool is_cut = d.source.ran_out || lines < window.height;
  if (!is_cut) return absl::OkStatus();
  const double fraction = static_cast<double>(lines) / static_cast<double>(size.height);
  if (!options.try_recover_truncated || fraction < options.acceptable_fraction) {
    return Invalid(d.trouble.text[0] != '\0' ? d.trouble.text : "image ends too early");
  }
  const int64_t row = size.width * channels;
  std::fill(pixels + lines * row, pixels + size.height * row, uint8_t{0});
  return absl::OkStatus();
}

absl::StatusOr<std::string> EncodeJpeg(const uint8_t* pixels, const ImageSize& size,
                                       const JpegEncodeOptions& options) {
  SLUICE_INVALID_IF(size.channels != 1 && size.channels != 3, "expected 1 or 3 channels, got ",
                    size.channels);
  SLUICE_INVALID_IF(options.xmp_metadata.size() > 65000,
                    "expected XMP metadata of at most 65000 bytes, got ",
                    options.xmp_metadata.size());
  Trouble trouble;
  jpeg_compress_struct info = {};
  info.err = Quiet(&trouble);
  jpeg_create_compress(&info);
  unsigned char* out = nullptr;
  unsigned long out_size = 0;
  const bool ok = Compress(&info, trouble, pixels, size, options, &out, &out_size);
  std::string bytes;
  if (ok) bytes.assign(reinterpret_cast<char*>(out), out_size);
  jpeg_destroy_compress(&info);
  std::free(out);
  SLUICE_INVALID_IF(!ok, "JPEG encoding: ", trouble.text);
  return bytes;
}

}  // namespace sluice
