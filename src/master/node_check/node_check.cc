#include "master/node_check/node_check.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster::master {
namespace {

std::optional<double> median(std::vector<double> values) {
    if (values.empty()) return std::nullopt;
    std::ranges::sort(values);
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace

// ---- events

void NodeCheck::begin(std::vector<CheckedNode> nodes, Instant now) {
    nodes_ = std::move(nodes);
    states_.resize(nodes_.size());
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        by_incarnation_.emplace(nodes_[i].incarnation, i);
    began_ = now;
    deadline_ = now + options_.round_limit;
    round_ = 1;
    first_round();
}

void NodeCheck::reported(const std::string& incarnation, const CheckResult& result) {
    const auto found = by_incarnation_.find(incarnation);
    if (over_ || found == by_incarnation_.end()) return;
    State& state = states_[found->second];
    if (!state.order || state.reported || state.gone || result.epoch != epoch_ ||
        result.round != round_)
        return;
    state.reported = true;
    state.trouble = result.trouble;
    if (state.order->compute) state.figures = result;
    for (CheckedLink& link : links_) {
        if (link.round != round_ || link.from != found->second) continue;
        const auto told =
            std::ranges::find(result.links, nodes_[link.to].incarnation, &LinkFigures::peer);
        if (told != result.links.end()) link.figures = *told;
    }
}

void NodeCheck::lost(const std::string& incarnation) {
    const auto found = by_incarnation_.find(incarnation);
    if (found != by_incarnation_.end()) states_[found->second].gone = true;
}

bool NodeCheck::advance(Instant now) {
    if (over_ || !has_begun()) return false;
    const bool all = std::ranges::all_of(
        states_, [](const State& state) { return state.gone || !state.order || state.reported; });
    if (!all && now < deadline_) return false;
    for (State& state : states_)
        if (state.order && !state.reported && state.trouble.empty() && !state.gone) {
            state.trouble = fmt::format(
                "it did not answer for {} s",
                std::chrono::duration_cast<std::chrono::seconds>(options_.round_limit).count());
        }
    if (round_ == 1 && second_round()) {
        round_ = 2;
        deadline_ = now + options_.round_limit;
        return true;
    }
    took_ = now - began_;
    over_ = true;
    judge();
    return true;
}

Instant NodeCheck::wake_at() const { return has_begun() && !over_ ? deadline_ : Instant::max(); }

const Check* NodeCheck::directive_for(const std::string& incarnation) const {
    const auto found = by_incarnation_.find(incarnation);
    if (over_ || found == by_incarnation_.end()) return nullptr;
    const State& state = states_[found->second];
    return state.order && !state.gone ? &*state.order : nullptr;
}

// ---- pairs

/// The directive for that node in the round that begins.
Check& NodeCheck::order(std::size_t node, int round) {
    State& state = states_[node];
    if (!state.order)
        state.order = Check{.epoch = epoch_,
                            .round = round,
                            .compute = !state.figures,
                            .thorough = options_.thorough,
                            .secret = options_.secret,
                            .limit = std::chrono::duration_cast<std::chrono::milliseconds>(
                                options_.round_limit * 3 / 4)};
    return *state.order;
}

void NodeCheck::connect(std::size_t from, std::size_t to, int round) {
    for (const std::size_t end : {from, to}) states_[end].links.push_back(links_.size());
    links_.push_back({.from = from, .to = to, .round = round});
    order(from, round)
        .dials.push_back({.incarnation = nodes_[to].incarnation,
                          .address = nodes_[to].address,
                          .port = nodes_[to].port});
}

void NodeCheck::first_round() {
    std::vector<std::size_t> part;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (takes_part(i)) {
            part.push_back(i);
            order(i, 1);
        }
    for (std::size_t i = 0; i + 1 < part.size(); i += 2) connect(part[i], part[i + 1], 1);
    if (part.size() > 1 && part.size() % 2 == 1) connect(part[part.size() - 3], part.back(), 1);
}

bool NodeCheck::have_met(std::size_t one, std::size_t other) const {
    return std::ranges::any_of(states_[one].links, [&](std::size_t link) {
        return links_[link].from == other || links_[link].to == other;
    });
}

/// The rate below which a link is slow; zero while none works.
double NodeCheck::slow_link() const {
    std::vector<double> reached;
    for (const CheckedLink& link : links_)
        if (link.works()) reached.push_back(link.bytes());
    return median(std::move(reached)).value_or(0) / options_.slow_factor;
}

bool NodeCheck::is_suspect(std::size_t node, double slow_link) const {
    if (states_[node].silent()) return true;
    bool works = false;
    for (const std::size_t at : states_[node].links) {
        const CheckedLink& link = links_[at];
        if (!link.works()) continue;
        works = true;
        if (link.bytes() < slow_link) return true;
    }
    return !states_[node].links.empty() && !works;
}

bool NodeCheck::second_round() {
    std::vector<std::size_t> suspects;
    std::vector<std::size_t> good;
    const double slow = slow_link();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (!takes_part(i) || states_[i].is_broken()) continue;
        (is_suspect(i, slow) ? suspects : good).push_back(i);
    }
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    if (!good.empty()) {
        for (std::size_t i = 0; i < suspects.size(); ++i) {
            std::size_t partner = good[i % good.size()];
            for (std::size_t next = 0; next < good.size() && have_met(suspects[i], partner); ++next)
                partner = good[(i + next) % good.size()];
            pairs.emplace_back(suspects[i], partner);
        }
    } else {
        std::vector<bool> taken(suspects.size());
        for (std::size_t i = 0; i < suspects.size(); ++i)
            for (std::size_t k = i + 1; k < suspects.size() && !taken[i]; ++k) {
                if (taken[k] || have_met(suspects[i], suspects[k])) continue;
                taken[i] = taken[k] = true;
                pairs.emplace_back(suspects[i], suspects[k]);
            }
    }
    if (pairs.empty()) return false;
    for (State& state : states_) {
        state.order.reset();
        state.reported = false;
    }
    for (const auto& [suspect, partner] : pairs) {
        const bool connects =
            std::ranges::any_of(states_[suspect].links, [&, at = suspect](std::size_t link) {
                return links_[link].round == 1 && links_[link].from == at;
            });
        if (!states_[suspect].is_usable()) order(suspect, 2);
        if (connects)
            connect(suspect, partner, 2);
        else
            connect(partner, suspect, 2);
    }
    return true;
}

// ---- conclusions

const CheckResult* NodeCheck::figures_of(std::size_t node) const {
    const State& state = states_[node];
    return state.figures ? &*state.figures : nullptr;
}

std::string NodeCheck::name_of(std::size_t node) const {
    return fmt::format("node {} ({})", nodes_[node].slot, nodes_[node].address);
}

std::string NodeCheck::about(const CheckedLink& link) const {
    return fmt::format("the link from {} to {} does not work ({})", name_of(link.from),
                       name_of(link.to), link.figures->trouble);
}

/// Only among nodes that both say they can be used.
const CheckedLink* NodeCheck::accuser_of(std::size_t node) const {
    const CheckedLink* accuser = nullptr;
    for (const std::size_t at : states_[node].links) {
        const CheckedLink& link = links_[at];
        if (link.works()) return nullptr;
        const std::size_t other = link.from == node ? link.to : link.from;
        if (link.fails() && takes_part(other) && states_[other].is_usable()) accuser = &link;
    }
    return accuser;
}

void NodeCheck::judge() {
    std::vector<std::size_t> fine;
    std::vector<std::pair<std::size_t, const CheckedLink*>> linkless;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        if (!is_there(i)) continue;
        if (nodes_[i].port == 0) {
            remarks_.push_back(name_of(i) + " was started without --precheck and is not checked");
        } else if (!states_[i].is_usable()) {
            faulty_.push_back({.node = i, .why = states_[i].trouble});
        } else if (const CheckedLink* link = accuser_of(i)) {
            linkless.emplace_back(i, link);
        } else {
            fine.push_back(i);
        }
    }
    const bool undecided = fine.empty() && !linkless.empty();
    if (undecided) {
        fine.push_back(linkless.front().first);
        linkless.erase(linkless.begin());
    }
    for (const auto& [node, link] : linkless)
        faulty_.push_back(
            {.node = node,
             .why = undecided
                        ? about(*link) +
                              ", and there is no other working link to tell which node is at fault"
                        : "no link of it works: " + about(*link)});
    std::ranges::sort(faulty_, {}, &Named::node);
    for (const CheckedLink& link : links_)
        if (link.fails() && std::ranges::binary_search(fine, link.from) &&
            std::ranges::binary_search(fine, link.to))
            remarks_.push_back(about(link) + ", though other links of both nodes do");
    judge_speed(fine);
}

std::optional<double> NodeCheck::best_link(std::size_t node) const {
    std::optional<double> best;
    for (const std::size_t at : states_[node].links)
        if (links_[at].works()) best = std::max(best.value_or(0), links_[at].bytes());
    return best;
}

void NodeCheck::judge_speed(const std::vector<std::size_t>& fine) {
    struct Kind {
        std::optional<double> (*of)(const NodeCheck&, std::size_t);
        std::string_view what;
        double unit;
        std::string_view unit_name;
    };
    constexpr Kind kKinds[] = {
        {[](const NodeCheck& check, std::size_t node) -> std::optional<double> {
             const CheckResult* const figures = check.figures_of(node);
             return figures == nullptr ? std::nullopt : std::optional(figures->flops);
         },
         "its processor does", 1e9, "GFLOP/s"},
        {[](const NodeCheck& check, std::size_t node) -> std::optional<double> {
             const CheckResult* const figures = check.figures_of(node);
             return figures == nullptr ? std::nullopt : std::optional(figures->memory_bytes);
         },
         "its memory moves", 1e9, "GB/s"},
        {[](const NodeCheck& check, std::size_t node) { return check.best_link(node); },
         "the best of its links carries", 1e6, "MB/s"}};
    std::map<std::size_t, std::string> why;
    for (const Kind& kind : kKinds) {
        std::vector<double> all;
        for (const std::size_t node : fine)
            if (const auto value = kind.of(*this, node)) all.push_back(*value);
        const auto middle = median(std::move(all));
        if (!middle) continue;
        for (const std::size_t node : fine) {
            const auto value = kind.of(*this, node);
            if (!value || *value * options_.slow_factor >= *middle) continue;
            std::string& text = why[node];
            text += fmt::format("{}{} {:.2f} {}, the median is {:.2f}", text.empty() ? "" : "; ",
                                kind.what, *value / kind.unit, kind.unit_name, *middle / kind.unit);
        }
    }
    for (auto& [node, text] : why) slow_.push_back({.node = node, .why = std::move(text)});
}

}  // namespace muster::master
