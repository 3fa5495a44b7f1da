#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "demos/report/plot.h"
#include "demos/report/progress.h"
#include "demos/report/terminal_plot.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice::demos {
namespace {

using ::testing::HasSubstr;

std::string Contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

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

TEST(PlotTest, EachPanelHasItsOwnAxisAndSkipsNaN) {
  const std::string plot = CurvesPlot("it's", "step",
                                      {{"loss", "train", {0, 1, 2}, {1.0, NAN, 0.5}},
                                       {"accuracy (%)", "none", {}, {}},
                                       {"accuracy (%)", "test", {2}, {90}}});
  EXPECT_THAT(plot, HasSubstr("$curve1 << END\n0 1\n2 0.5\nEND\n$curve2 << END\n2 90\nEND\n"));
  EXPECT_THAT(plot, HasSubstr("set xrange [0:2]\n"));
  EXPECT_THAT(plot, HasSubstr("layout 2,1 title 'it''s'\n"));
  EXPECT_THAT(plot, HasSubstr("set ylabel 'accuracy (%)'\nplot $curve2 with lines linetype 2"));
}

TEST(PlotTest, GnuplotDrawsRoundTicks) {
  const std::string path = testing::TempDir() + "/it's a curve";
  const std::vector<double> steps = {1, 5001}, losses = {1.93, 0.11};
  const absl::Status status =
      Draw(path, CurvesPlot("t", "step", {{"loss", "a & b", steps, losses}}));
  ASSERT_TRUE(status.ok()) << status;
  const std::string svg = Contents(path + ".svg");
  for (const char* text : {">0.5</", ">1.5</", ">1000</", ">5000</", ">a &amp; b</", "</svg>"}) {
    EXPECT_THAT(svg, HasSubstr(text));
  }
}

TEST(PlotTest, ConfusionWritesEveryCount) {
  const std::string path = testing::TempDir() + "/confusion";
  ASSERT_TRUE(Draw(path, ConfusionPlot("c", {"cat", "dog"}, {{9, 1}, {0, 7}})).ok());
  const std::string svg = Contents(path + ".svg");
  for (const char* text : {">9</", ">1</", ">0</", ">7</", ">cat</", ">dog</"}) {
    EXPECT_THAT(svg, HasSubstr(text));
  }
}

TEST(DrawTest, AMissingGnuplotSaysHowToDrawLater) {
  const std::string search = std::getenv("PATH"), path = testing::TempDir() + "/later";
  setenv("PATH", "/no/such/folder", 1);
  const absl::Status status = Draw(path, "plot x\n");
  setenv("PATH", search.c_str(), 1);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("apt install gnuplot-nox && gnuplot " + path));
  EXPECT_THAT(Contents(path + ".gnuplot"), HasSubstr("plot x"));
}

TEST(DrawTest, FailuresAreStatuses) {
  EXPECT_EQ(Draw("/no/such/folder/f", "").code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Draw(testing::TempDir() + "/f", "nonsense\n").code(), absl::StatusCode::kInternal);
}

TEST(TerminalPlotTest, ACurveFallsFromTheUpperLeftToTheLowerRight) {
  const Panel falling = {"loss", "training loss", {0, 1, 2, 3}, {4, 3, 2, 1}};
  EXPECT_EQ(TerminalPlot(falling, 2, 2),
            "       4 \xe2\xa0\xa1\xe2\xa0\x80\n"
            "       1 \xe2\xa0\x80\xe2\xa2\x82\n"
            "         training loss, steps 0 to 3\n");
}

TEST(TerminalPlotTest, PointsThatAreNotFiniteAreLeftOut) {
  EXPECT_EQ(TerminalPlot({"loss", "loss", {}, {}}), "");
  EXPECT_EQ(TerminalPlot({"loss", "loss", {1}, {NAN}}), "");
  EXPECT_THAT(TerminalPlot({"loss", "loss", {1, 2}, {INFINITY, 2}}), HasSubstr("2 "));
}

}  // namespace
}  // namespace sluice::demos
