#include "apiserver_http/internal/wire/presented.h"

#include "apiserver_http/internal/json_access.h"
#include "apiserver_http/internal/wire/frames.h"
#include "store/json_text.h"

namespace muster::apiserver_http {

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

namespace {

std::string list_text(const json::value& envelope, std::span<const store::ObjectTextPtr> items) {
    std::string text;
    store::append_json(text, envelope);
    text.pop_back();  // the brace, so that the items can follow
    text += ",\"items\":[";
    std::size_t bytes = text.size() + 2;
    for (const store::ObjectTextPtr& item : items) bytes += item->text().size() + 1;
    text.reserve(bytes);
    for (const store::ObjectTextPtr& item : items) {
        if (&item != &items.front()) text += ',';
        text += item->text();
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

json::value present_value(const apiserver::ResourceDef& def, const apiserver::Reply& reply,
                          Form form, TableOptions::RowObject row_object, WallTime now) {
    const bool list = reply.items.has_value();
    if (!list && reply.object == nullptr) return *reply.body;
    const kube::ObjectPtr outer = list ? reply.body : reply.object->tree();
    const ListMeta meta = list_meta(outer->get_object());
    const std::span<const store::ObjectTextPtr> items =
        list ? std::span(*reply.items) : std::span(&reply.object, 1);
    if (form == Form::kTable) return make_table(def, items, meta, {row_object, true}, now);
    if (form != Form::kObject)
        return list ? partial_metadata_list(items, meta) : partial_metadata(outer->get_object());
    json::value whole = *outer;
    if (!list) return whole;
    json::array& trees = whole.get_object()["items"].emplace_array();
    trees.reserve(items.size());
    for (const store::ObjectTextPtr& item : items) trees.push_back(*item->tree());
    return whole;
}

std::string present(const apiserver::ResourceDef& def, const apiserver::Reply& reply, Form form,
                    TableOptions::RowObject row_object, WallTime now) {
    const bool list = reply.items.has_value();
    if (form == Form::kObject && list) return list_text(*reply.body, *reply.items);
    if (form == Form::kObject && reply.object != nullptr) return std::string(reply.object->text());
    std::string text;
    if (!list && reply.object == nullptr) {
        store::append_json(text, *reply.body);
        return text;
    }
    store::append_json(text, present_value(def, reply, form, row_object, now));
    return text;
}

json::object EventPresenter::table(const apiserver::WatchedEvent& event, WallTime now) {
    const kube::ObjectPtr object = event.object();
    const json::object* metadata = object_at(object->get_object(), "metadata");
    ListMeta meta;
    if (metadata != nullptr) meta.resource_version = string_at(*metadata, "resourceVersion");
    const bool row = event.text != nullptr;
    json::object made =
        make_table(*def_, row ? std::span(&event.text, 1) : std::span<const store::ObjectTextPtr>(),
                   meta, options_, now);
    options_.with_columns = false;
    return made;
}

void EventPresenter::append(std::string& lines, const apiserver::WatchedEvent& event,
                            WallTime now) {
    const bool whole = form_ == Form::kObject || event.type == kube::WatchEventType::kError;
    if (whole && event.text != nullptr) return append_frame(lines, event.type, event.text->text());
    std::string text;
    if (whole)
        store::append_json(text, *event.object());
    else if (form_ == Form::kTable)
        store::append_json(text, table(event, now));
    else
        store::append_json(text, partial_metadata(event.object()->get_object()));
    append_frame(lines, event.type, text);
}

}  // namespace muster::apiserver_http
