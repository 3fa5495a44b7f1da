// Compares messages with bytes that were written by hand from the description of the wire format.
// Sluice must read what TensorFlow writes, and write what TensorFlow reads.

#include <string>

#include "absl/strings/escaping.h"
#include "google/protobuf/text_format.h"
#include "google/protobuf/util/message_differencer.h"
#include "graph/format/proto/config.pb.h"
#include "graph/format/proto/graph.pb.h"
#include "graph/format/proto/meta_graph.pb.h"
#include "gtest/gtest.h"

namespace sluice::pb {
namespace {

// A message with all kinds of nesting. A field is (number << 3 | wire type), length, content.
const char kGraphBytes[] =
    "0a4f"                      // node: 79 bytes
    "0a0163"                    //   name: "c"
    "1205436f6e7374"            //   op: "Const"
    "1a025e61"                  //   input: "^a"
    "22062f6370753a30"          //   device: "/cpu:0"
    "2a0b"                      //   attr
    "0a056474797065"            //     key: "dtype"
    "12023001"                  //     value { type: DT_FLOAT }
    "2a2a"                      //   attr
    "0a0576616c7565"            //     key: "value"
    "1221421f"                  //     value { tensor: 31 bytes
    "0801"                      //       dtype: DT_FLOAT
    "1211"                      //       tensor_shape
    "12020802"                  //         dim { size: 2 }
    "120b08ffffffffffffffffff"  //         dim { size: -1 }, a varint of ten bytes
    "01"                        //
    "2a080000803f00000040"      //       float_val: 1, 2 (packed)
    "2205081b1a0101";           // versions { producer: 27 bad_consumers: 1 (packed) }

GraphDef Expected() {
  GraphDef graph;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"pb(node {
             name: "c"
             op: "Const"
             input: "^a"
             device: "/cpu:0"
             attr {
               key: "dtype"
               value { type: DT_FLOAT }
             }
             attr {
               key: "value"
               value {
                 tensor {
                   dtype: DT_FLOAT
                   tensor_shape {
                     dim { size: 2 }
                     dim { size: -1 }
                   }
                   float_val: [ 1, 2 ]
                 }
               }
             }
           }
           versions { producer: 27 bad_consumers: 1 })pb",
      &graph));
  return graph;
}

TEST(Protos, ReadWhatTensorFlowWrites) {
  GraphDef graph;
  ASSERT_TRUE(graph.ParseFromString(absl::HexStringToBytes(kGraphBytes)));
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(graph, Expected()))
      << graph.DebugString();
}

TEST(Protos, WriteWhatTensorFlowReads) {
  // Maps have no order on the wire, so both orders of the two attributes are valid.
  std::string bytes = Expected().SerializeAsString();
  EXPECT_EQ(bytes.size(), sizeof(kGraphBytes) / 2);
  GraphDef again;
  ASSERT_TRUE(again.ParseFromString(bytes));
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(again, Expected()));
}

TEST(Protos, HalfReadGraphIsAnError) {
  std::string bytes = absl::HexStringToBytes(kGraphBytes);
  bytes.resize(bytes.size() / 2);
  GraphDef graph;
  EXPECT_FALSE(graph.ParseFromString(bytes));
}

TEST(Protos, UnknownFieldsOfNewerProducersAreKept) {
  const std::string bytes = absl::HexStringToBytes(std::string("2205081b1a0101") + "9a3f0178");
  GraphDef graph;
  ASSERT_TRUE(graph.ParseFromString(bytes));
  EXPECT_EQ(graph.SerializeAsString(), bytes);
}

TEST(Protos, NumbersThatPeersRelyOn) {
  EXPECT_EQ(DT_RESOURCE, 20);
  EXPECT_EQ(DT_FLOAT_REF, 101);
  EXPECT_EQ(RunOptions::FULL_TRACE, 3);
  EXPECT_EQ(ConfigProto::kAllowSoftPlacementFieldNumber, 7);
  EXPECT_EQ(MetaGraphDef::kCollectionDefFieldNumber, 4);
}

}  // namespace
}  // namespace sluice::pb
