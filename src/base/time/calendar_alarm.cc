#include "base/time/calendar_alarm.h"

#include "base/async/first_of.h"

namespace muster {

Task<void> CalendarAlarm::run() {
    for (;;) {
        if (!at_)
            co_await changed_.wait();
        else
            co_await first_of(changed_.wait(), clock_.sleep_until_wall(*at_));
        if (!at_ || clock_.wall_now() < *at_) continue;
        at_.reset();
        due_();
    }
}

}  // namespace muster
