// Training on Fashion-MNIST that says what it does: a plan, progress, and the result as text,
// curves in the terminal, and pictures.
//
// Thread safety: for the main thread, once at a time. An interrupt (SIGINT) ends training after the
// step, and the result so far is shown.
#ifndef SLUICE_DEMOS_REPLICAS_SHOW_H_
#define SLUICE_DEMOS_REPLICAS_SHOW_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "demos/replicas/training.h"

namespace sluice::demos {

// The folder of Debian's package dataset-fashion-mnist.
inline constexpr std::string_view kDataFolder = "/usr/share/datasets/fashion-mnist";

// `data` is the folder of the images, `pictures` that of the results; "": a new temporary folder.
// Pictures need gnuplot; without it, their commands are written. Errors of LoadFashionMnist and
// Train.
absl::Status TrainAndShow(TrainingOptions options, const std::string& data, std::string pictures);

}  // namespace sluice::demos

#endif  // SLUICE_DEMOS_REPLICAS_SHOW_H_
