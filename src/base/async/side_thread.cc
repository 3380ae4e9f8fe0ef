#include "base/async/side_thread.h"

#include <boost/asio/thread_pool.hpp>
#include <utility>

namespace muster {

struct SideThread::Impl {
    asio::thread_pool thread{1};
};

SideThread::SideThread(Watch watch) : watch_(std::move(watch)) {}

SideThread::~SideThread() {
    if (impl_ != nullptr) impl_->thread.join();
}

asio::any_io_executor SideThread::executor() {
    if (impl_ == nullptr) impl_ = std::make_unique<Impl>();
    return impl_->thread.get_executor();
}

}  // namespace muster
