#include "store/internal/file/thread.h"

#include <pthread.h>
#include <signal.h>

#include <thread>
#include <utility>

#include "base/unexpected.h"

namespace muster::store {

struct Thread::Impl {
    std::thread thread;
};

Thread::Thread(const char* name, std::function<void()> body) : impl_(std::make_unique<Impl>()) {
    // The loop handles the process's signals: a thread inherits the mask of its creator.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    impl_->thread = std::thread([name, body = std::move(body)] {
        try {
            body();
        } catch (...) {
            end_process_for(name, std::current_exception());
        }
    });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_setname_np(impl_->thread.native_handle(), name);
}

Thread::~Thread() {
    if (impl_ != nullptr) impl_->thread.join();
}

Thread::Thread(Thread&&) noexcept = default;

}  // namespace muster::store
