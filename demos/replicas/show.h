// Trains on Fashion-MNIST and shows what happens: the plan, the progress, and the result as text,
// as curves in the terminal, and as pictures.
//
// Thread safety: only the main thread may call it. After an interrupt (SIGINT), training ends with
// the current step, and the result so far is shown.
#ifndef SLUICE_DEMOS_REPLICAS_SHOW_H_
#define SLUICE_DEMOS_REPLICAS_SHOW_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "demos/replicas/training.h"

namespace sluice::demos {

// The folder of Debian's package dataset-fashion-mnist.
inline constexpr std::string_view kDataFolder = "/usr/share/datasets/fashion-mnist";

// Reads the images in folder `data`, and writes the pictures to folder `pictures` ("": a new
// temporary folder). gnuplot draws the pictures. If it is not installed, only its commands are
// written. Returns the errors of LoadFashionMnist and Train.
absl::Status TrainAndShow(TrainingOptions options, const std::string& data, std::string pictures);

}  // namespace sluice::demos

#endif  // SLUICE_DEMOS_REPLICAS_SHOW_H_
