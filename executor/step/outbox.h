// Collects the messages that a thread sends, so that several messages wake their receiver once.
//
// A thread that is about to send several messages opens an Outbox. Connections then queue this
// thread's messages, in order, until Flush. Code that is about to wait or to work for long calls
// Flush. Without an Outbox, messages are sent at once.
#ifndef SLUICE_EXECUTOR_STEP_OUTBOX_H_
#define SLUICE_EXECUTOR_STEP_OUTBOX_H_

#include <memory>
#include <utility>
#include <vector>

namespace sluice {

// Thread safety: only the thread that created an outbox uses it. If the thread already has an
// Outbox, another Outbox does nothing.
class Outbox {
 public:
  // A connection that queues messages.
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

  // The outbox of this thread. Null: messages are sent at once.
  static Outbox* Current() { return current_; }
  void Add(std::shared_ptr<Sender> sender) {
    if (senders_.empty() || senders_.back() != sender) senders_.push_back(std::move(sender));
  }
  static void Flush() {
    if (current_ != nullptr) current_->SendAll();
  }

  // While a Closed exists, this thread has no outbox, so its messages are sent at once. The
  // constructor sends the messages that are queued.
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
