// Chooses the name of a layer's scope.
//
// Thread safety: the function keeps no state.
#ifndef SLUICE_TRAINING_LAYERS_NAME_OR_H_
#define SLUICE_TRAINING_LAYERS_NAME_OR_H_

#include <string_view>

namespace sluice {

// Returns the name that the caller gave, or `otherwise` if it is empty. The result is valid as long
// as the argument that it refers to.
inline std::string_view NameOr(std::string_view given, std::string_view otherwise) {
  return given.empty() ? otherwise : given;
}

}  // namespace sluice

#endif  // SLUICE_TRAINING_LAYERS_NAME_OR_H_
