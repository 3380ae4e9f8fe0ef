#include "base/time/alarm.h"

#include "base/async/first_of.h"

namespace muster {

Task<void> Alarm::run() {
    for (;;) {
        planned_ = at_;
        if (planned_ == Instant::max())
            co_await earlier_.wait();
        else
            co_await first_of(earlier_.wait(), clock_.sleep_until(planned_));
        if (clock_.now() < at_) continue;
        at_ = Instant::max();
        due_();
    }
}

}  // namespace muster
