#include "demos/report/plot.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "absl/strings/str_replace.h"
#include "graph/status.h"

namespace sluice::demos {
namespace {

constexpr int kPanelHeight = 300;

// A string of gnuplot, in which '' stands for a quote.
std::string Quoted(const std::string& text) {
  return StrCat("'", absl::StrReplaceAll(text, {{"'", "''"}}), "'");
}

std::string Terminal(int width, int height) {
  return fmt::format(
      "set terminal svg size {},{} font 'sans-serif,13' background 'white' noenhanced\n", width,
      height);
}

std::string Points(const Panel& panel) {
  std::string points;
  for (size_t i = 0; i < panel.x.size() && i < panel.y.size(); ++i) {
    if (std::isfinite(panel.y[i])) points += fmt::format("{} {}\n", panel.x[i], panel.y[i]);
  }
  return points;
}

}  // namespace

std::string CurvesPlot(const std::string& title, const std::string& x_label,
                       const std::vector<Panel>& panels) {
  std::string data, plots;
  int drawn = 0;
  double last_x = 1;
  for (const Panel& panel : panels) {
    const std::string points = Points(panel);
    if (points.empty()) continue;
    ++drawn;
    last_x = std::max(last_x, panel.x.back());
    data += fmt::format("$curve{} << END\n{}END\n", drawn, points);
    plots += fmt::format("set ylabel {}\nplot $curve{} with lines linetype {} title {}\n",
                         Quoted(panel.y_label), drawn, drawn, Quoted(panel.curve));
  }
  if (drawn == 0) return "";
  return StrCat(
      Terminal(720, 40 + kPanelHeight * drawn), data,
      "set linetype 1 linecolor '#1f6fb4' linewidth 1.5\n"
      "set linetype 2 linecolor '#b3401a' linewidth 1.5\n"
      "set grid linecolor '#cccccc' linetype 1 linewidth 0.5\n"
      "set border 3\nset tics nomirror out\nset format '%g'\nset lmargin 9\nset rmargin 3\n"
      "set offsets graph 0, graph 0, graph 0.05, graph 0.05\nset key tmargin right\n",
      "set xlabel ", Quoted(x_label), fmt::format("\nset xrange [0:{}]", last_x),
      "\nset multiplot layout ", drawn, ",1 title ", Quoted(title), "\n", plots,
      "unset multiplot\n");
}

std::string ConfusionPlot(const std::string& title, const std::vector<std::string>& classes,
                          const std::vector<std::vector<int64_t>>& counts) {
  std::string cells, tics;
  for (size_t row = 0; row < classes.size(); ++row) {
    tics += fmt::format("{}{} {}", row == 0 ? "" : ", ", Quoted(classes[row]), row);
    int64_t total = 0;
    for (int64_t count : counts[row]) total += count;
    for (size_t column = 0; column < counts[row].size(); ++column) {
      cells += fmt::format("{} {} {} {}\n", column, row, counts[row][column],
                           static_cast<double>(counts[row][column]) /
                               static_cast<double>(std::max<int64_t>(total, 1)));
    }
  }
  const double edge = static_cast<double>(classes.size()) - 0.5;
  return StrCat(Terminal(720, 660), "$cells << END\n", cells, "END\nset title ", Quoted(title),
                "\nset xlabel 'prediction'\nset ylabel 'truth'\nset tics scale 0\nset xtics (",
                tics, ") font ',11'\nset ytics (", tics, ") font ',11'\n",
                fmt::format("set xrange [-0.5:{0}]\nset yrange [{0}:-0.5]\n", edge),
                "set palette defined (0 'white', 1 '#74add1')\nset cbrange [0:1]\n"
                "set cblabel 'share of the true class'\nset cbtics 0.25\n"
                "plot $cells using 1:2:4 with image pixels notitle, "
                "'' using 1:2:(sprintf('%d', $3)) with labels notitle\n");
}

absl::Status Draw(const std::string& path, const std::string& commands) {
  const std::string file = path + ".gnuplot";
  {
    std::ofstream out(file, std::ios::trunc);
    out << "set output " << Quoted(path + ".svg") << "\n" << commands;
    out.flush();
    if (!out) return absl::UnavailableError(StrCat("cannot write '", file, "'"));
  }
  std::string program = "gnuplot", argument = file;
  char* const argv[] = {program.data(), argument.data(), nullptr};
  pid_t pid = 0;
  if (const int error = posix_spawnp(&pid, "gnuplot", nullptr, nullptr, argv, environ);
      error != 0) {
    return absl::FailedPreconditionError(
        StrCat("no picture, because gnuplot is not installed. Draw it later: apt install "
               "gnuplot-nox && gnuplot ",
               file));
  }
  int ended = 0;
  if (waitpid(pid, &ended, 0) != pid || !WIFEXITED(ended) || WEXITSTATUS(ended) != 0) {
    return absl::InternalError(StrCat("gnuplot failed to draw '", file, "'"));
  }
  return absl::OkStatus();
}

}  // namespace sluice::demos
