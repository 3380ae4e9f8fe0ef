#include "master/wishes/wish_service.h"

#include <set>
#include <utility>

namespace muster::master {
namespace {

constexpr const char* kWishSection = "wishes";

}  // namespace

WishService::WishService(const ServiceContext& context, Put put)
    : job_(context.job),
      wake_(context.wake),
      put_(std::move(put)),
      wishes_(context.job.section(kWishSection)) {}

void WishService::joined(const Hello& hello) {
    wishes_.joined(hello.incarnation, {.pod = hello.pod,
                                       .host = hello.host,
                                       .is_new = hello.epoch_seen == 0 && !hello.report.holds});
    changed_ = true;
}

/// It is in the record before the agent hears that it is not wanted.
void WishService::excluded(const Hello& hello, const std::optional<WallTime>& until) {
    wishes_.excluded(hello.incarnation, hello.host, until);
    // kGone: the job has ended, and its pods go.
    static_cast<void>(job_.set_section(kWishSection, wishes_.kept()));
    changed_ = true;
}

void WishService::lost(const std::string& incarnation) {
    wishes_.lost(incarnation);
    changed_ = true;
}

void WishService::world_changed(const World* world, const std::string& /*why*/) {
    std::optional<std::set<std::string>> members;
    if (world != nullptr) {
        members.emplace();
        for (const Member& member : world->members) members->insert(member.incarnation);
    }
    wishes_.world_is(std::move(members));
    changed_ = true;
    wake_();  // this was no part of what the master has just looked at
}

bool WishService::advance(Instant now, WallTime wall) {
    const bool settles = now >= wishes_.wake_at();
    wishes_.advance(now);
    if (!std::exchange(changed_, false) && !settles) return false;
    std::optional<Wish> wish = wishes_.wish(wall);
    if (!wish || wish == told_) return false;
    told_ = wish;
    put_(*std::move(wish));
    return false;
}

}  // namespace muster::master
