// Stands for another library in a program that uses Sluice. It has its own Protocol Buffers and its
// own GraphDef.
#ifndef OTHER_H_
#define OTHER_H_

#include <string>

// The op of the first node of a serialised GraphDef; "" if there is no node or `bytes` is
// malformed.
std::string FirstOp(const std::string& bytes);

#endif  // OTHER_H_
