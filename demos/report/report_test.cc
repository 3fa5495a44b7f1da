#include <algorithm>
#include <cmath>

#include "demos/report/progress.h"
#include "demos/report/svg.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice::demos {
namespace {

using ::testing::HasSubstr;

TEST(ProgressTest, TheLineSaysWhereTrainingStands) {
  EXPECT_EQ(ProgressLine({.step = 100,
                          .steps = 400,
                          .loss = 0.5,
                          .images = 6400,
                          .dropped_gradients = 3,
                          .seconds = 10}),
            "step 100/400  loss 0.5000  640 images/s  dropped 3  ETA 0:30");
  EXPECT_THAT(ProgressLine({.steps = 10}), HasSubstr("ETA -:--"));
}

TEST(ProgressTest, PlainLinesAreSpacedInTime) {
  std::FILE* file = std::tmpfile();
  {
    Progress progress(file, 1.0);
    progress.Show({.step = 1, .steps = 3, .seconds = 0.1});
    progress.Show({.step = 2, .steps = 3, .seconds = 0.2});
    progress.Finish({.step = 3, .steps = 3, .seconds = 0.3});
  }
  std::rewind(file);
  char text[512] = {};
  const size_t n = std::fread(text, 1, sizeof(text) - 1, file);
  std::fclose(file);
  EXPECT_EQ(std::count(text, text + n, '\n'), 2);
  EXPECT_THAT(text, HasSubstr("step 3/3"));
}

TEST(SvgTest, CurvesSurviveNaNAndEmptyInput) {
  const std::string svg =
      CurvesSvg("a < b", "step", "loss", {{"train", {0, 1, 2}, {1.0, NAN, 0.5}}});
  EXPECT_THAT(svg, HasSubstr("a &lt; b"));
  EXPECT_THAT(svg, HasSubstr("<polyline points='70.0,40.0 700.0,385.0 '"));
  EXPECT_THAT(CurvesSvg("t", "x", "y", {}), HasSubstr("</svg>"));
}

TEST(SvgTest, ConfusionWritesEveryCount) {
  const std::string svg = ConfusionSvg("c", {"cat", "dog"}, {{9, 1}, {0, 7}});
  for (const char* count : {">9<", ">1<", ">0<", ">7<", ">cat<"}) {
    EXPECT_THAT(svg, HasSubstr(count));
  }
}

TEST(WriteFileTest, AnUnwritableFolderIsAStatus) {
  EXPECT_EQ(WriteFile("/no/such/folder/f.svg", "x").code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace sluice::demos
