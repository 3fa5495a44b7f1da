// Messages of a thread that go out together, so that several wake their receiver once.
//
// A thread that is about to send several opens an Outbox. What is sent while it lives is kept by
// the connections, in order, until Flush, which whoever is about to wait or to work for long calls.
// Connections keep nothing for threads that have none.
#ifndef SLUICE_EXECUTOR_STEP_OUTBOX_H_
#define SLUICE_EXECUTOR_STEP_OUTBOX_H_

#include <memory>
#include <utility>
#include <vector>

namespace sluice {

// Thread safety: used by the thread that made it. In one that lives already, another one does
// nothing.
class Outbox {
 public:
  // A connection that keeps messages.
  class Sender {
   public:
    virtual ~Sender() = default;
    virtual void SendKept() = 0;
  };

  Outbox() : is_first_(current_ == nullptr) {
    if (is_first_) current_ = this;
  }
  ~Outbox() {
    if (!is_first_) return;
    SendAll();
    current_ = nullptr;
  }
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  // Of this thread; null: none, messages go out at once.
  static Outbox* Current() { return current_; }
  void Add(std::shared_ptr<Sender> sender) {
    if (senders_.empty() || senders_.back() != sender) senders_.push_back(std::move(sender));
  }
  static void Flush() {
    if (current_ != nullptr) current_->SendAll();
  }

  // While one lives, messages of this thread go out at once.
  class Closed {
   public:
    Closed() : outbox_(current_) {
      Flush();
      current_ = nullptr;
    }
    ~Closed() { current_ = outbox_; }
    Closed(const Closed&) = delete;
    Closed& operator=(const Closed&) = delete;

   private:
    Outbox* const outbox_;
  };

 private:
  void SendAll() {
    while (!senders_.empty()) {
      const std::vector<std::shared_ptr<Sender>> senders = std::exchange(senders_, {});
      for (const auto& sender : senders) sender->SendKept();
    }
  }

  static inline thread_local Outbox* current_ = nullptr;
  const bool is_first_;
  std::vector<std::shared_ptr<Sender>> senders_;
};

}  // namespace sluice

#endif  // SLUICE_EXECUTOR_STEP_OUTBOX_H_
