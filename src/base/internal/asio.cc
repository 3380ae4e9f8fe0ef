// The compiled part of Asio, for all programs: as a library of headers alone, its scheduler and its reactor would be
// compiled in each file that touches a loop.
#include <sys/epoll.h>

#include "base/thread_time.h"

namespace muster::internal {

/// Asio waits for events and runs the handler of one in the same call, and does not tell when the wait has ended.
int epoll_wait_and_note(int descriptor, epoll_event* events, int most, int timeout) {
    const int ready = ::epoll_wait(descriptor, events, most, timeout);
    note_loop_woke();
    return ready;
}

}  // namespace muster::internal

#define epoll_wait ::muster::internal::epoll_wait_and_note
#include <boost/asio/impl/src.hpp>
#undef epoll_wait
