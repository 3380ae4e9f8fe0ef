#include "base/async/task_group.h"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>

#include "base/async/cancellation.h"
#include "base/check.h"

namespace muster {

struct TaskGroup::Running {
    std::string name;
    asio::cancellation_signal signal;
};

TaskGroup::TaskGroup(asio::any_io_executor executor)
    : executor_(std::move(executor)), ended_(executor_) {}

TaskGroup::~TaskGroup() {
    CHECK(tasks_.empty(), "a task group was destroyed with tasks in it: stop() it first");
}

namespace {

/// co_spawn alone would run the task up to its first wait inside spawn(), in the middle of whatever
/// its caller is doing.
Task<void> start_later(asio::any_io_executor executor, Task<void> task) {
    co_await asio::post(executor, asio::use_awaitable);
    co_await std::move(task);
}

}  // namespace

void TaskGroup::spawn(std::string name, Task<void> task) {
    if (stopping_) return;
    auto it = tasks_.insert(tasks_.end(), std::make_unique<Running>());
    (*it)->name = std::move(name);
    asio::co_spawn(
        executor_, start_later(executor_, std::move(task)),
        asio::bind_cancellation_slot((*it)->signal.slot(), [this, it](std::exception_ptr thrown) {
            if (thrown) {
                try {
                    std::rethrow_exception(thrown);
                } catch (const boost::system::system_error& error) {
                    if (!is_cancellation(error.code()))
                        check_failed((*it)->name.c_str(), 0, "a task threw", error.what());
                } catch (const std::exception& error) {
                    check_failed((*it)->name.c_str(), 0, "a task threw", error.what());
                }
            }
            tasks_.erase(it);
            if (tasks_.empty()) ended_.notify_all();
        }));
}

void TaskGroup::cancel() {
    // A task that ends inside emit() erases itself, so walk a copy of the addresses.
    std::vector<Running*> running;
    running.reserve(tasks_.size());
    for (auto& task : tasks_) running.push_back(task.get());
    for (Running* task : running) {
        for (auto& alive : tasks_) {
            if (alive.get() == task) {
                task->signal.emit(asio::cancellation_type::terminal);
                break;
            }
        }
    }
}

Task<void> TaskGroup::stop() {
    stopping_ = true;
    cancel();
    co_await join();
}

Task<void> TaskGroup::join() {
    while (!tasks_.empty()) co_await ended_.wait();
}

}  // namespace muster
