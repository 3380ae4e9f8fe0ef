#include "base/async/task_fault.h"

#include <stdexcept>
#include <utility>

#include "base/check.h"

namespace muster {

namespace {
std::atomic<TaskFault*> g_fault = nullptr;
}  // namespace

TaskFault::TaskFault(std::string task_name)
    : name_(std::move(task_name)), previous_(g_fault.exchange(this)) {}

TaskFault::~TaskFault() {
    CHECK(g_fault == this, "task faults are destroyed in reverse order");
    g_fault = previous_;
}

void TaskFault::strike(std::string_view task_name) {
    for (TaskFault* fault = g_fault; fault != nullptr; fault = fault->previous_) {
        if (fault->name_ != task_name) continue;
        ++fault->hits_;
        throw std::runtime_error("a test's fault");
    }
}

}  // namespace muster
