#include "apiserver/internal/conversions/webhook_versions.h"

#include "apiserver/internal/conversions/conversion_review.h"
#include "apiserver/internal/webhooks/webhook_call.h"
#include "apiserver/objects/json_access.h"
#include "apiserver/objects/text_fields.h"
#include "apiserver/objects/tree_beside.h"
#include "apiserver/resources/version_conversion.h"

namespace muster::apiserver {

namespace {

/// As upstream's client has it.
constexpr Duration kTimeLimit = std::chrono::seconds(30);
/// Of one question.
constexpr std::size_t kBatchObjects = 256;
constexpr std::size_t kBatchBytes = std::size_t{1024} * 1024;

Task<StatusResult<std::vector<store::ObjectTextPtr>>> ask(
    ServerState& state, std::shared_ptr<const WebhookConversion> by, std::string desired,
    std::vector<store::ObjectTextPtr> objects) {
    const ConversionQuestion question{.uid = state.rng.uuid(),
                                      .review_version = by->review_version,
                                      .desired_api_version = std::move(desired),
                                      .objects = std::move(objects)};
    const store::ObjectText& first = *question.objects.front();
    const Result<std::string> answer =
        co_await call_webhook(state, by->endpoint, conversion_text(question), kTimeLimit);
    if (!answer)
        co_return internal_error(
            conversion_failure(first, fmt::format("failed: {}", answer.error().message())));
    auto made = co_await compute_beside(
        state.options.side_thread, "read converted objects", answer->size(),
        [&answer, &question] { return read_conversion(*answer, question); });
    if (!made) co_return internal_error(conversion_failure(first, made.error()));
    co_return *std::move(made);
}

Task<kube::ObjectPtr> tree_of(ServerState& state, store::ObjectTextPtr object) {
    return tree_beside(state.options.side_thread, std::move(object));
}

bool is_of(const store::ObjectText& object, std::string_view api_version) {
    return string_at_path(object.text(), "apiVersion") == api_version;
}

}  // namespace

Task<StatusResult<std::vector<store::ObjectTextPtr>>> show_all(
    ServerState& state, DefPtr def, std::vector<store::ObjectTextPtr> objects) {
    if (def->webhook_conversion == nullptr) {
        for (store::ObjectTextPtr& object : objects) object = in_version(*def, std::move(object));
        co_return objects;
    }
    const std::string desired = def->type.api_version();
    for (std::size_t next = 0; next < objects.size();) {
        std::vector<std::size_t> places;
        std::vector<store::ObjectTextPtr> batch;
        std::size_t bytes = 0;
        for (; next < objects.size() && batch.size() < kBatchObjects && bytes < kBatchBytes;
             ++next) {
            if (is_of(*objects[next], desired)) continue;
            places.push_back(next);
            batch.push_back(objects[next]);
            bytes += objects[next]->text().size();
        }
        if (batch.empty()) continue;
        CO_TRY(std::vector<store::ObjectTextPtr> made,
               co_await ask(state, def->webhook_conversion, desired, std::move(batch)));
        for (std::size_t i = 0; i < places.size(); ++i) objects[places[i]] = std::move(made[i]);
    }
    co_return objects;
}

Task<StatusResult<store::ObjectTextPtr>> show(ServerState& state, DefPtr def,
                                              store::ObjectTextPtr object) {
    if (object == nullptr || def->webhook_conversion == nullptr)
        co_return in_version(*def, std::move(object));
    std::vector<store::ObjectTextPtr> one{std::move(object)};
    CO_TRY(one, co_await show_all(state, std::move(def), std::move(one)));
    co_return std::move(one.front());
}

Task<StatusResult<kube::ObjectPtr>> meet(ServerState& state, DefPtr def,
                                         store::ObjectTextPtr stored) {
    if (def->webhook_conversion == nullptr)
        co_return before_write(*def, co_await tree_of(state, std::move(stored)));
    CO_TRY(const store::ObjectTextPtr shown, co_await show(state, std::move(def), stored));
    co_return shown->tree();
}

Task<StatusResult<kube::Document>> put_away(ServerState& state, DefPtr def,
                                            kube::Document written) {
    if (def->webhook_conversion == nullptr) co_return after_write(*def, std::move(written));
    if (string_at(written.object(), "apiVersion") == def->storage_api_version)
        co_return std::move(written);
    std::vector<store::ObjectTextPtr> one{store::ObjectText::of(std::move(written).share())};
    CO_TRY(one,
           co_await ask(state, def->webhook_conversion, def->storage_api_version, std::move(one)));
    co_return kube::Document(*one.front()->tree());
}

Task<StatusResult<kube::Document>> convert(ServerState& state, DefPtr from, DefPtr to,
                                           const json::value& object) {
    if (from->webhook_conversion == nullptr || from == to) co_return converted(*from, *to, object);
    std::vector<store::ObjectTextPtr> one{
        std::make_shared<const store::ObjectText>(json::serialize(object))};
    CO_TRY(one, co_await show_all(state, std::move(to), std::move(one)));
    co_return kube::Document(*one.front()->tree());
}

}  // namespace muster::apiserver
