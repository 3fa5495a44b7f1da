#include "graph/json.h"

#include "gtest/gtest.h"

namespace sluice {
namespace {

TEST(JsonQuoted, KeepsTextAndEscapesQuotes) {
  EXPECT_EQ(JsonQuoted(""), "\"\"");
  EXPECT_EQ(JsonQuoted("a \"b\" c:\\d"), R"("a \"b\" c:\\d")");
  EXPECT_EQ(JsonQuoted("na\xc3\xafve \xe2\x82\xac \xf0\x9f\x99\x82"),
            "\"na\xc3\xafve \xe2\x82\xac \xf0\x9f\x99\x82\"");
}

// A text in a log must not move the cursor of the terminal that shows the log, and must stay on one
// line.
TEST(JsonQuoted, EscapesControlCharacters) {
  EXPECT_EQ(JsonQuoted("a\nb\tc\r"), R"("a\nb\tc\u000d")");
  EXPECT_EQ(JsonQuoted("\x1b[2J\x7f"), R"("\u001b[2J\u007f")");
  EXPECT_EQ(JsonQuoted("\xc2\x9b"), R"("\u009b")");
  EXPECT_EQ(JsonQuoted(std::string_view("a\0b", 3)), R"("a\u0000b")");
}

TEST(JsonQuoted, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(JsonQuoted("a\xff\xfe z"), R"("a\ufffd\ufffd z")");
  EXPECT_EQ(JsonQuoted("\xe2\x82"), R"("\ufffd\ufffd")");
  EXPECT_EQ(JsonQuoted("\xe2\"}"), R"("\ufffd\"}")");
}

TEST(ToUtf8, ReplacesOtherBytesOnly) {
  EXPECT_EQ(ToUtf8("na\xc3\xafve\n"), "na\xc3\xafve\n");
  EXPECT_EQ(ToUtf8("a\xff\xc3"), "a\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(IsUtf8, FollowsTheRfc) {
  EXPECT_TRUE(IsUtf8(""));
  EXPECT_TRUE(IsUtf8("\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf"));  // next to forbidden codes
  EXPECT_FALSE(IsUtf8("\x80"));
  EXPECT_FALSE(IsUtf8("\xc0\xaf"));          // overlong '/'
  EXPECT_FALSE(IsUtf8("\xe0\x80\xaf"));      // overlong '/'
  EXPECT_FALSE(IsUtf8("\xf0\x80\x80\xaf"));  // overlong '/'
  EXPECT_FALSE(IsUtf8("\xed\xa0\x80"));      // a surrogate
  EXPECT_FALSE(IsUtf8("\xf4\x90\x80\x80"));  // above U+10FFFF
  EXPECT_FALSE(IsUtf8("\xf8\x88\x80\x80\x80"));
}

}  // namespace
}  // namespace sluice
