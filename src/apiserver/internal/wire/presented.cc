#include "apiserver/internal/wire/presented.h"

#include "apiserver/internal/json_access.h"
#include "apiserver/internal/wire/frames.h"

namespace muster::apiserver {

namespace {

bool is_list(const ResourceDef& def, const json::object& body) {
    return string_at(body, "kind") == def.list_kind;
}

ListMeta list_meta(const json::object& envelope) {
    ListMeta meta;
    const json::object* metadata = object_at(envelope, "metadata");
    if (metadata == nullptr) return meta;
    meta.resource_version = string_at(*metadata, "resourceVersion");
    meta.continue_ = string_at(*metadata, "continue");
    if (const json::value* remaining = metadata->if_contains("remainingItemCount"))
        meta.remaining = remaining->to_number<std::size_t>();
    return meta;
}

std::string list_text(const json::value& envelope, std::span<const kube::ObjectPtr> items) {
    std::string text;
    append_json(text, envelope);
    text.pop_back();  // the brace, so that the items can follow
    text += ",\"items\":[";
    for (const kube::ObjectPtr& item : items) {
        if (&item != &items.front()) text += ',';
        append_json(text, *item);
    }
    text += "]}";
    return text;
}

}  // namespace

std::optional<TableOptions::RowObject> row_object_of(std::string_view include_object) {
    if (include_object.empty() || include_object == "Metadata")
        return TableOptions::RowObject::kMetadata;
    if (include_object == "None") return TableOptions::RowObject::kNone;
    if (include_object == "Object") return TableOptions::RowObject::kFull;
    return std::nullopt;
}

std::string present(const ResourceDef& def, const kube::Response& response, Form form,
                    TableOptions::RowObject row_object, WallTime now) {
    const json::object* body = response.body->if_object();
    std::string text;
    if (body == nullptr) {
        append_json(text, *response.body);
        return text;
    }
    const bool list = is_list(def, *body);
    if (form != Form::kObject && (list || string_at(*body, "kind") == def.type.kind)) {
        const ListMeta meta = list_meta(*body);
        const std::span<const kube::ObjectPtr> items =
            list ? std::span(response.items) : std::span(&response.body, 1);
        if (form == Form::kTable)
            append_json(text, make_table(def, items, meta, {row_object, true}, now));
        else if (list)
            append_json(text, partial_metadata_list(items, meta));
        else
            append_json(text, partial_metadata(*body));
        return text;
    }
    if (list && !body->contains("items")) return list_text(*response.body, response.items);
    append_json(text, *response.body);
    return text;
}

json::object EventPresenter::table(const kube::WatchEvent& event, WallTime now) {
    const json::object* metadata = object_at(event.object->get_object(), "metadata");
    ListMeta meta;
    if (metadata != nullptr) meta.resource_version = string_at(*metadata, "resourceVersion");
    const bool row = event.type != kube::WatchEventType::kBookmark;
    json::object made =
        make_table(*def_, row ? std::span(&event.object, 1) : std::span<const kube::ObjectPtr>(),
                   meta, options_, now);
    options_.with_columns = false;
    return made;
}

std::string EventPresenter::line(const kube::WatchEvent& event, WallTime now) {
    if (event.type == kube::WatchEventType::kError || form_ == Form::kObject)
        return make_frame(event.type, *event.object);
    return make_frame(event.type, form_ == Form::kTable
                                      ? table(event, now)
                                      : partial_metadata(event.object->get_object()));
}

}  // namespace muster::apiserver
