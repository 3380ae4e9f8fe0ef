#include "apiserver/internal/writing/owner_look_up.h"

#include <algorithm>

#include "apiserver/internal/conversions/webhook_versions.h"
#include "apiserver/internal/writing/owner_views.h"

namespace muster::apiserver {

namespace {

/// In how many steps a write may find out what it is in other versions: each needs the one before.
constexpr int kMostLookUps = 4 * static_cast<int>(OwnerViews::kMostVersions);

Task<StatusResult<void>> look_up(ServerState& state, OwnerViews& views) {
    std::vector<OwnerViews::Question> questions = views.take_questions();
    while (!questions.empty()) {
        // Those about one version go together.
        const DefPtr def = questions.front().def;
        const auto others = std::ranges::partition(
            questions, [&](const OwnerViews::Question& each) { return each.def == def; });
        std::vector<store::ObjectTextPtr> objects;
        for (auto each = questions.begin(); each != others.begin(); ++each)
            objects.push_back(std::make_shared<const store::ObjectText>(each->text));
        CO_TRY(objects, co_await show_all(state, def, std::move(objects)));
        for (std::size_t i = 0; i < objects.size(); ++i)
            views.learn(questions[i], objects[i]->tree());
        questions.erase(questions.begin(), others.begin());
    }
    co_return StatusResult<void>();
}

}  // namespace

Task<StatusResult<NextState>> decide_with_views(
    ServerState& state, Ownership ownership,
    std::function<Task<StatusResult<NextState>>()> decide) {
    OwnerViews* views = ownership.views.get();
    for (int asked = 0;; ++asked) {
        StatusResult<NextState> next = co_await decide();
        if (views == nullptr || views->gave_up() || !views->asks()) co_return next;
        StatusResult<void> known = internal_error("too many conversions of one object");
        if (asked < kMostLookUps) known = co_await look_up(state, *views);
        if (!known && ownership.kind == Ownership::Kind::kApplied)
            co_return std::move(known.error());
        if (!known) views->give_up();
    }
}

}  // namespace muster::apiserver
