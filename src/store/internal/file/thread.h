#pragma once

#include <functional>
#include <memory>

namespace muster::store {

/// A thread that ends with its owner: the destructor waits until `body` has returned. If it throws,
/// the process ends with a message. Debuggers and `top -H` show the name, at most 15 bytes.
class Thread {
  public:
    Thread(const char* name, std::function<void()> body);
    ~Thread();
    Thread(Thread&&) noexcept;
    Thread& operator=(Thread&&) = delete;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace muster::store
