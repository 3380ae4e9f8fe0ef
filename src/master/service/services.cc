#include "master/service/services.h"

#include <algorithm>

namespace muster::master {

void Services::serve(rpc::Server& server) {
    for (const auto& service : all_) service->serve(server);
}

void Services::has_terms(const Terms& terms) {
    for (const auto& service : all_) service->has_terms(terms);
}

void Services::joined(const Hello& hello) {
    for (const auto& service : all_) service->joined(hello);
}

void Services::excluded(const Hello& hello, const std::optional<WallTime>& until) {
    for (const auto& service : all_) service->excluded(hello, until);
}

void Services::reported(const std::string& incarnation, const Report& report) {
    for (const auto& service : all_) service->reported(incarnation, report);
}

void Services::lost(const std::string& incarnation) {
    for (const auto& service : all_) service->lost(incarnation);
}

void Services::runs(const World* world, const std::string& why) {
    // A node that is the whole world may have restarted its workers in the same generation.
    const auto now = world == nullptr
                         ? std::nullopt
                         : std::optional(std::pair(world->generation, world->restarts));
    if (now == running_) return;
    running_ = now;
    for (const auto& service : all_) service->world_changed(world, why);
}

bool Services::advance(Instant now, WallTime wall) {
    bool changed = false;
    for (const auto& service : all_) changed = service->advance(now, wall) || changed;
    return changed;
}

Instant Services::wake_at() const {
    Instant next = Instant::max();
    for (const auto& service : all_) next = std::min(next, service->wake_at());
    return next;
}

bool Services::hold_first_world() const {
    return std::ranges::any_of(all_, &Service::holds_first_world);
}

void Services::first_world_is_due(const std::vector<Candidate>& nodes, Instant now) {
    for (const auto& service : all_) service->first_world_is_due(nodes, now);
}

std::string Services::why_it_waits() const {
    for (const auto& service : all_)
        if (std::string text = service->why_it_waits(); !text.empty()) return text;
    return {};
}

std::optional<Directive::What> Services::directive_for(const std::string& incarnation) const {
    for (const auto& service : all_)
        if (auto what = service->directive_for(incarnation)) return what;
    return std::nullopt;
}

}  // namespace muster::master
