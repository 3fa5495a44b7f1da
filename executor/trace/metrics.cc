#include "executor/trace/metrics.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "graph/json.h"
#include "graph/strings.h"

namespace sluice {
namespace {

// Returns the value of a label in quotes. Prometheus knows only these three escapes, unlike JSON.
// It rejects the whole page if a label is not UTF-8. So the text is made UTF-8, because clients
// choose names that become labels, such as those of queues.
std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : ToUtf8(text)) {
    if (c == '"' || c == '\\') quoted.push_back('\\');
    if (c == '\n') {
      quoted += "\\n";
    } else {
      quoted.push_back(c);
    }
  }
  return quoted + "\"";
}

std::string Number(double value) {
  const auto whole = static_cast<int64_t>(value);
  return static_cast<double>(whole) == value ? StrCat(whole) : StrCat(value);
}

}  // namespace

Metrics& Metrics::Global() {
  static auto* const metrics = new Metrics;
  return *metrics;
}

void Metrics::Add(std::weak_ptr<const void> object,
                  std::function<void(std::vector<Metric>&)> read) {
  ScopedLock lock(&mutex_);
  if (watched_.size() >= sweep_at_) {
    std::erase_if(watched_, [](const Watched& w) { return w.object.expired(); });
    sweep_at_ = 64 + 2 * watched_.size();
  }
  watched_.push_back({std::move(object), std::move(read)});
}

std::vector<Metric> Metrics::ReadAll() const {
  std::vector<Watched> watched;
  {
    ScopedLock lock(&mutex_);
    watched = watched_;
  }
  std::vector<Metric> metrics;
  for (const Watched& w : watched) {
    if (const std::shared_ptr<const void> object = w.object.lock()) w.read(metrics);
  }
  std::stable_sort(metrics.begin(), metrics.end(), [](const Metric& a, const Metric& b) {
    return std::tie(a.name, a.label) < std::tie(b.name, b.label);
  });
  return metrics;
}

std::string Metrics::ToText(const std::vector<Metric>& metrics) {
  std::string text;
  const std::string* last = nullptr;
  for (const Metric& m : metrics) {
    if (last == nullptr || *last != m.name) {
      StrAppend(&text, "# TYPE ", m.name, m.name.ends_with("_total") ? " counter\n" : " gauge\n");
    }
    last = &m.name;
    StrAppend(&text, m.name);
    if (!m.label_name.empty()) StrAppend(&text, "{", m.label_name, "=", Quoted(m.label), "}");
    StrAppend(&text, " ", Number(m.value), "\n");
  }
  return text;
}

MetricCounter::MetricCounter(const char* name) : value_(std::make_shared<std::atomic<int64_t>>(0)) {
  Metrics::Global().Watch<std::atomic<int64_t>>(
      value_, [name](const std::atomic<int64_t>& value, std::vector<Metric>& out) {
        const auto now = static_cast<double>(value.load(std::memory_order_relaxed));
        out.push_back({name, "", "", now});
      });
}

}  // namespace sluice
