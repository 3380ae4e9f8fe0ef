#include "master_process/plans/plan_object.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/async/first_of.h"
#include "base/log.h"
#include "base/time/restarting_task.h"
#include "master/wishes/wish_service.h"
#include "master_process/plans/wished_plan.h"
#include "master_process/records/in_time.h"

namespace muster::master_process {
namespace {

/// An operator that is there is done by then.
constexpr Duration kFirstLook = std::chrono::seconds(1);
constexpr Duration kLongestBetween = std::chrono::minutes(1);
constexpr Duration kSameTroubleAgain = std::chrono::minutes(1);

}  // namespace

void PlanObject::start(TaskGroup& tasks) {
    spawn_restarting(tasks, clock_, "the master's plan", [this] { return keep(); });
}

std::unique_ptr<master::Service> PlanObject::service(const master::ServiceContext& context) {
    return std::make_unique<master::WishService>(
        context, [this](master::Wish wish) { put(std::move(wish)); });
}

void PlanObject::put(master::Wish wish) {
    wish_ = std::move(wish);
    ++wishes_;
    changed_.notify_all();
}

Task<void> PlanObject::keep() {
    Duration pause = kFirstLook;
    for (;;) {
        while (settled_ == wishes_) co_await changed_.wait();
        const std::uint64_t of = wishes_;
        const Result<bool> settled = co_await step(*wish_);
        if (!settled) tell(settled.error());
        if (settled && *settled) settled_ = of;
        if (of != wishes_ || settled_ == of) {
            pause = kFirstLook;
            continue;
        }
        co_await first_of(changed_.wait(), clock_.sleep_for(pause));
        pause = of == wishes_ ? std::min(2 * pause, kLongestBetween) : kFirstLook;
    }
}

/// True: it is in the object, and the operator has done with it.
Task<Result<bool>> PlanObject::step(master::Wish wish) {
    auto found = co_await in_time(clock_, client_.get(place_.type, place_.namespace_, place_.name));
    if (!found) co_return std::move(found).error();
    CO_TRY(PlanState state, state_of(**found, place_.job));
    if (state.ended) {
        if (!state.why_refused.empty()) note(state.generation, state.why_refused);
        asked_.insert(state.moved.begin(), state.moved.end());
    }
    std::optional<json::value> wanted =
        with_wish(**found, wish, asked_, !state.why_refused.empty());
    if (!wanted) co_return state.ended || !state.asks;
    CO_TRY_VOID(co_await in_time(
        clock_, client_.update(place_.type, place_.namespace_, place_.name, *std::move(wanted))));
    log::info("the operator is asked for another state of the job",
              {{"plan", place_.name},
               {"excludedNodes", wish.left_out.size()},
               {"movedPods", wish.moved.size()},
               {"sparePods", wish.spares.size()}});
    co_return false;
}

void PlanObject::note(std::int64_t generation, const std::string& why_refused) {
    if (std::exchange(told_generation_, generation) == generation) return;
    log::warning("the operator has refused a wish of this master",
                 {{"plan", place_.name}, {"generation", generation}, {"why", why_refused}});
}

/// Another client, as the operator's status, has changed the object since it was read: that is no
/// trouble.
void PlanObject::tell(const Error& error) {
    if (error.code() == Code::kConflict) return;
    if (error.message() == said_ && clock_.now() < say_again_) return;
    log::warning("the operator can't be asked for another state of the job; it is tried again",
                 {{"plan", fmt::format("{}/{}", place_.namespace_, place_.name)},
                  {"error", error.message()}});
    said_ = error.message();
    say_again_ = clock_.now() + kSameTroubleAgain;
}

}  // namespace muster::master_process
