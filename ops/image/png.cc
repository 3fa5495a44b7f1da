#include "ops/image/png.h"

#include <png.h>

#include <csetjmp>
#include <cstring>
#include <vector>

#include "graph/status.h"

namespace sluice {
namespace {

// The text of an error of libpng, and the place at which to continue after it.
struct Trouble {
  std::jmp_buf jump;
  char text[160] = "";
};

[[noreturn]] void OnError(png_structp png, png_const_charp text) {
  auto* trouble = static_cast<Trouble*>(png_get_error_ptr(png));
  std::strncpy(trouble->text, text, sizeof trouble->text - 1);
  std::longjmp(trouble->jump, 1);
}
void OnWarning(png_structp, png_const_charp) {}

struct Input {
  std::string_view bytes;
};
void Read(png_structp png, png_bytep to, png_size_t n) {
  auto* input = static_cast<Input*>(png_get_io_ptr(png));
  if (input->bytes.size() < n) png_error(png, "image ends too early");
  std::memcpy(to, input->bytes.data(), n);
  input->bytes.remove_prefix(n);
}

void Write(png_structp png, png_bytep from, png_size_t n) {
  static_cast<std::string*>(png_get_io_ptr(png))->append(reinterpret_cast<char*>(from), n);
}
void Flush(png_structp) {}

// Owns libpng's objects. The destructor runs even after a longjmp, because the functions that jump
// have no local objects with destructors.
struct Reader {
  explicit Reader(Trouble* trouble) {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, trouble, OnError, OnWarning);
    info = png == nullptr ? nullptr : png_create_info_struct(png);
  }
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
  png_structp png = nullptr;
  png_infop info = nullptr;
};

struct Writer {
  explicit Writer(Trouble* trouble) {
    png = png_create_write_struct(PNG_LIBPNG_VER_STRING, trouble, OnError, OnWarning);
    info = png == nullptr ? nullptr : png_create_info_struct(png);
  }
  ~Writer() { png_destroy_write_struct(&png, &info); }
  png_structp png = nullptr;
  png_infop info = nullptr;
};

bool IsLittleEndian() {
  const uint16_t one = 1;
  return *reinterpret_cast<const unsigned char*>(&one) == 1;
}

// Returns the number of channels of the result if the caller requests none. A palette counts as
// RGB. Transparency adds a channel.
int OwnChannels(Reader& r, int color, bool has_alpha) {
  const bool is_grey = (color & PNG_COLOR_MASK_COLOR) == 0;
  int channels =
      color == PNG_COLOR_TYPE_PALETTE ? (has_alpha ? 4 : 3) : png_get_channels(r.png, r.info);
  if (is_grey && has_alpha) channels = 2;
  if (color == PNG_COLOR_TYPE_RGB && has_alpha) channels = 4;
  return channels;
}

// Expands palettes and depths below 8 bits. Reduces 16 bits to 8, if 8 are requested.
void SetDepth(Reader& r, int color, int depth, int bits) {
  if (bits == 8 && depth == 16) png_set_strip_16(r.png);
  if (color == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(r.png);
  if ((color & PNG_COLOR_MASK_COLOR) == 0 && depth < 8) png_set_expand_gray_1_2_4_to_8(r.png);
}

void SetAlpha(Reader& r, int depth, bool has_alpha, bool has_output_alpha) {
  if (!has_output_alpha) return png_set_strip_alpha(r.png);
  if (png_get_valid(r.png, r.info, PNG_INFO_tRNS) != 0) {
    png_set_tRNS_to_alpha(r.png);
  } else if (!has_alpha) {
    png_set_add_alpha(r.png, (1 << depth) - 1, PNG_FILLER_AFTER);
  }
}

void SetColor(Reader& r, int color, int channels) {
  const bool is_grey_output = channels < 3;
  const bool is_grey_input = (color & PNG_COLOR_MASK_COLOR) == 0;
  if (is_grey_output && !is_grey_input) {
    png_set_rgb_to_gray(r.png, 1, 0.299, 0.587);
  } else if (!is_grey_output && is_grey_input) {
    png_set_gray_to_rgb(r.png);
  }
}

// Reads the header. Sets up conversions to `channels` and `bits`. Returns false after an error.
bool ReadHeader(Reader& r, Trouble& trouble, Input* input, int channels, int bits,
                ImageSize* size) {
  if (setjmp(trouble.jump) != 0) return false;
  png_set_read_fn(r.png, input, Read);
  png_read_info(r.png, r.info);
  png_uint_32 width, height;
  int depth, color;
  png_get_IHDR(r.png, r.info, &width, &height, &depth, &color, nullptr, nullptr, nullptr);
  size->height = height;
  size->width = width;
  const bool has_alpha =
      (color & PNG_COLOR_MASK_ALPHA) != 0 || png_get_valid(r.png, r.info, PNG_INFO_tRNS) != 0;
  if (channels == 0) channels = OwnChannels(r, color, has_alpha);
  size->channels = channels;
  SetDepth(r, color, depth, bits);
  SetAlpha(r, depth, has_alpha, channels == 2 || channels == 4);
  if (bits == 16 && depth < 16) png_set_expand_16(r.png);
  if (bits == 16 && IsLittleEndian()) png_set_swap(r.png);
  SetColor(r, color, channels);
  png_set_interlace_handling(r.png);
  png_read_update_info(r.png, r.info);
  return true;
}

bool ReadRows(Reader& r, Trouble& trouble, png_bytepp rows) {
  if (setjmp(trouble.jump) != 0) return false;
  png_read_image(r.png, rows);
  png_read_end(r.png, nullptr);
  return true;
}

bool WriteImage(Writer& w, Trouble& trouble, const ImageSize& size, int bits, int compression,
                png_bytepp rows, std::string* out) {
  static constexpr int kColors[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                                    PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGBA};
  if (setjmp(trouble.jump) != 0) return false;
  png_set_write_fn(w.png, out, Write, Flush);
  png_set_compression_level(w.png, compression);
  png_set_compression_mem_level(w.png, 9);  // the maximum
  png_set_IHDR(w.png, w.info, static_cast<png_uint_32>(size.width),
               static_cast<png_uint_32>(size.height), bits, kColors[size.channels],
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(w.png, w.info);
  if (bits == 16 && IsLittleEndian()) png_set_swap(w.png);
  png_write_image(w.png, rows);
  png_write_end(w.png, nullptr);
  return true;
}

std::vector<png_bytep> Rows(void* pixels, const ImageSize& size, int bits) {
  const size_t row = static_cast<size_t>(size.width) * size.channels * (bits / 8);
  std::vector<png_bytep> rows(static_cast<size_t>(size.height));
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<png_bytep>(pixels) + i * row;
  return rows;
}

}  // namespace

namespace {

absl::Status CheckEncodable(const ImageSize& size, int bits) {
  SLUICE_INVALID_IF(size.channels < 1 || size.channels > 4 || (bits != 8 && bits != 16),
                    "a PNG image has 1 to 4 channels of 8 or 16 bits, got ", size.channels, " of ",
                    bits);
  constexpr int64_t kMost = INT32_MAX;  // the limit of the format
  SLUICE_INVALID_IF(size.height < 1 || size.width < 1 || size.height > kMost || size.width > kMost,
                    "PNG encoding: expected an image of 1 to ", kMost, " lines and columns, got ",
                    size.height, " by ", size.width);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> EncodePng(const void* pixels, const ImageSize& size, int bits,
                                      int compression) {
  SLUICE_RETURN_IF_ERROR(CheckEncodable(size, bits));
  Trouble trouble;
  Writer writer(&trouble);
  if (writer.info == nullptr) return absl::ResourceExhaustedError("no memory to write an image");
  // libpng does not write to the rows, although its signature lacks a const.
  std::vector<png_bytep> rows = Rows(const_cast<void*>(pixels), size, bits);
  std::string out;
  SLUICE_INVALID_IF(!WriteImage(writer, trouble, size, bits, compression, rows.data(), &out),
                    "PNG encoding: ", trouble.text);
  return out;
}

absl::Status DecodePng(std::string_view bytes, int channels, int bits,
                       absl::FunctionRef<absl::StatusOr<void*>(const ImageSize&)> place) {
  Trouble trouble;
  Reader reader(&trouble);
  if (reader.info == nullptr) return absl::ResourceExhaustedError("no memory to read an image");
  Input input{bytes};
  ImageSize size;
  SLUICE_INVALID_IF(!ReadHeader(reader, trouble, &input, channels, bits, &size),
                    "Invalid PNG. Failed to initialize decoder. Data size ", bytes.size(), ": ",
                    trouble.text);
  SLUICE_INVALID_IF(size.height * size.width > kMaxPixels, "PNG size too large: ", size.width,
                    " by ", size.height);
  SLUICE_INVALID_IF(png_get_rowbytes(reader.png, reader.info) !=
                        static_cast<size_t>(size.width) * size.channels * (bits / 8),
                    "PNG image that cannot be converted to ", size.channels, " channels of ", bits,
                    " bits");
  SLUICE_ASSIGN_OR_RETURN(void* const pixels, place(size));
  std::vector<png_bytep> rows = Rows(pixels, size, bits);
  SLUICE_INVALID_IF(!ReadRows(reader, trouble, rows.data()), "Invalid PNG data, size ",
                    bytes.size(), ": ", trouble.text);
  return absl::OkStatus();
}

}  // namespace sluice
