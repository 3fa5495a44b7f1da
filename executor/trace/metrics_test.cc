#include "executor/trace/metrics.h"

#include <memory>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Metrics, AreReadWhileTheObjectLives) {
  auto elements = std::make_shared<double>(3);
  Metrics::Global().Watch<double>(elements, [](const double& n, std::vector<Metric>& out) {
    out.push_back({"test_elements", "queue", "a \"b\"\\", n});
    out.push_back({"test_elements", "queue", "a", 0.5});
  });
  *elements = 4;
  EXPECT_THAT(Metrics::ToText(Metrics::Global().ReadAll()),
              HasSubstr("# TYPE test_elements gauge\n"
                        "test_elements{queue=\"a\"} 0.5\n"
                        "test_elements{queue=\"a \\\"b\\\"\\\\\"} 4\n"));
  elements.reset();
  EXPECT_THAT(Metrics::ToText(Metrics::Global().ReadAll()), Not(HasSubstr("test_elements")));
}

// A client could otherwise hide all metrics of a server: Prometheus rejects a page that is not
// UTF-8.
TEST(Metrics, LabelsAreUtf8) {
  auto elements = std::make_shared<double>(1);
  Metrics::Global().Watch<double>(elements, [](const double& n, std::vector<Metric>& out) {
    out.push_back({"test_bytes", "queue", "a\xff\n", n});
  });
  EXPECT_THAT(Metrics::ToText(Metrics::Global().ReadAll()),
              HasSubstr("test_bytes{queue=\"a\xef\xbf\xbd\\n\"} 1\n"));
}

TEST(Metrics, CountersGrow) {
  MetricCounter counter("test_total");
  counter.Add();
  counter.Add(1000000);
  EXPECT_THAT(Metrics::ToText(Metrics::Global().ReadAll()),
              HasSubstr("# TYPE test_total counter\ntest_total 1000001\n"));
}

}  // namespace
}  // namespace sluice
