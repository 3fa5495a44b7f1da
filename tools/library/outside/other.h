// Another library in the same program, with its own Protocol Buffers and GraphDef.
#ifndef OTHER_H_
#define OTHER_H_

#include <string>

// The op of the first node of a serialised GraphDef.
std::string FirstOp(const std::string& bytes);

#endif  // OTHER_H_
