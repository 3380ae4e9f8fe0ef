#include "base/async/task_group.h"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include "base/async/cancellation.h"
#include "base/async/task_fault.h"
#include "base/check.h"
#include "base/unexpected.h"

namespace muster {

struct TaskGroup::Running {
    Running(std::string its_name, Failed told, bool is_essential)
        : name(std::move(its_name)), failed(std::move(told)), essential(is_essential) {}

    std::string name;
    Failed failed;
    bool essential;
    asio::cancellation_signal signal;
};

TaskGroup::TaskGroup(asio::any_io_executor executor)
    : executor_(std::move(executor)), ended_(executor_) {}

TaskGroup::~TaskGroup() {
    CHECK(tasks_.empty(), "a task group was destroyed with tasks in it: stop() it first");
}

namespace {

/// co_spawn alone would run the task up to its first wait inside spawn(), in the middle of whatever
/// its caller is doing. `name` lives as long as the task.
Task<void> start_later(asio::any_io_executor executor, const std::string& name, Task<void> task) {
    co_await asio::post(executor, asio::use_awaitable);
    TaskFault::strike(name);
    co_await std::move(task);
}

}  // namespace

void TaskGroup::spawn(std::string name, Task<void> task, Failed failed) {
    start(std::make_unique<Running>(std::move(name), std::move(failed), false), std::move(task));
}

void TaskGroup::spawn_essential(std::string name, Task<void> task) {
    start(std::make_unique<Running>(std::move(name), nullptr, true), std::move(task));
}

void TaskGroup::start(std::unique_ptr<Running> running, Task<void> task) {
    if (stopping_) return;
    auto it = tasks_.insert(tasks_.end(), std::move(running));
    asio::co_spawn(
        executor_, start_later(executor_, (*it)->name, std::move(task)),
        asio::bind_cancellation_slot((*it)->signal.slot(), [this, it](std::exception_ptr thrown) {
            const std::unique_ptr<Running> ended = std::move(*it);
            tasks_.erase(it);
            if (thrown && !is_cancellation(thrown)) {
                if (ended->essential) end_process_for(ended->name, thrown);
                const std::string what = report_unexpected(ended->name, thrown);
                if (ended->failed) contained(ended->name, [&] { ended->failed(what); });
            }
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
