#include "executor/cpu/stream_out.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace sluice {
namespace {

std::string Numbered(size_t bytes) {
  std::string s(bytes, ' ');
  for (size_t i = 0; i < bytes; ++i) s[i] = static_cast<char>('a' + i % 23);
  return s;
}

TEST(StreamOut, CopiesWhatItIsGivenAndNothingElse) {
  const std::string from = Numbered(400);
  for (size_t begin = 0; begin < 70; ++begin) {
    for (const size_t bytes : {0, 1, 15, 16, 63, 64, 65, 127, 128, 129, 200, 256}) {
      alignas(64) char to[400];
      std::fill(std::begin(to), std::end(to), '.');
      const char* const read_next = from.data() + 200;
      StreamOut(to + begin, from.data() + begin % 3, bytes,
                {begin % 2 == 0 ? read_next : nullptr, begin % 4 < 2 ? read_next : nullptr});
      FinishStreaming();
      const std::string wanted = std::string(begin, '.') + from.substr(begin % 3, bytes) +
                                 std::string(sizeof to - begin - bytes, '.');
      ASSERT_EQ(std::string(to, sizeof to), wanted) << begin << ' ' << bytes;
    }
  }
}

TEST(StreamOut, MakesEachUnitOnce) {
  for (const size_t unit_bytes : {1, 4, 12, 1000, 4096}) {
    const int64_t n = 5000 / static_cast<int64_t>(unit_bytes) + 3;
    std::string to(unit_bytes * n, '.');
    std::vector<int> made(n, 0);
    StreamPieces(1, n - 1, unit_bytes, to.data(), [&](int64_t first, int64_t last, char* piece) {
      ASSERT_LT(first, last);
      for (int64_t unit = first; unit < last; ++unit) {
        ++made[unit];
        std::fill_n(piece + (unit - first) * unit_bytes, unit_bytes,
                    static_cast<char>('a' + unit % 19));
      }
    });
    for (int64_t unit = 0; unit < n; ++unit) {
      const bool is_inside = unit > 0 && unit < n - 1;
      EXPECT_EQ(made[unit], is_inside ? 1 : 0);
      const char letter = is_inside ? static_cast<char>('a' + unit % 19) : '.';
      EXPECT_EQ(to.substr(unit * unit_bytes, unit_bytes), std::string(unit_bytes, letter));
    }
  }
}

TEST(StreamOut, IsNotForWhatCachesKeep) {
  EXPECT_FALSE(IsWorthStreaming(0, 1));
  EXPECT_FALSE(IsWorthStreaming(1 << 20, 1));
  EXPECT_FALSE(IsWorthStreaming(100 << 20, 64));
}

}  // namespace
}  // namespace sluice
