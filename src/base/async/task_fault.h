#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>

namespace muster {

/// While an object of this class exists, each task with this name throws instead of beginning: for
/// tests of the consequences. So does a thread's work, by a name that it strikes. Without one, it
/// costs a task the load of a pointer. Made and destroyed by one thread, while no other strikes.
class TaskFault {
  public:
    explicit TaskFault(std::string task_name);
    ~TaskFault();
    TaskFault(const TaskFault&) = delete;
    TaskFault& operator=(const TaskFault&) = delete;

    /// How many tasks threw.
    std::size_t hits() const { return hits_; }
    /// Throws if tasks with this name have to.
    static void strike(std::string_view task_name);

  private:
    std::string name_;
    std::atomic<std::size_t> hits_ = 0;
    TaskFault* previous_;
};

}  // namespace muster
