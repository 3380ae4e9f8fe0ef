#include "apiserver_http/internal/wire/event_lines.h"

#include <utility>

#include "apiserver_http/internal/json_access.h"
#include "apiserver_http/internal/wire/frames.h"
#include "store/json_text.h"

namespace muster::apiserver_http {

namespace {

/// From about so many bytes on it takes longer than others should wait: to make a tree of an
/// object, or to look for its metadata in its text.
constexpr std::size_t kLongToRead = std::size_t{64} * 1024;
constexpr std::size_t kLongToScan = std::size_t{512} * 1024;

/// Not shared with others, unless the event has it already: that is for the loop alone.
kube::ObjectPtr tree_of(const apiserver::WatchedEvent& event) {
    return event.tree != nullptr ? event.tree : event.text->own_tree();
}

}  // namespace

bool EventLines::is_long(const apiserver::WatchedEvent& event) const {
    if (event.text == nullptr || form_ == Form::kObject) return false;
    return event.text->text().size() >= (form_ == Form::kTable ? kLongToRead : kLongToScan);
}

std::string EventLines::table(const apiserver::WatchedEvent& event, WallTime now) {
    const kube::ObjectPtr object = tree_of(event);
    ListMeta meta;
    meta.resource_version = string_at(metadata_of(object->get_object()), "resourceVersion");
    std::string text;
    store::append_json(text, table_head(*def_, meta, std::exchange(with_columns_, false)));
    text.pop_back();  // the brace, so that the row can follow
    text += ",\"rows\":[";
    if (event.text != nullptr)
        append_table_row(text, *def_, event.text->text(), *object, row_object_, now);
    return text += "]}";
}

void EventLines::append(std::string& lines, const apiserver::WatchedEvent& event, WallTime now) {
    const bool whole = form_ == Form::kObject || event.type == kube::WatchEventType::kError;
    if (whole && event.text != nullptr) return append_frame(lines, event.type, event.text->text());
    std::string text;
    if (whole)
        store::append_json(text, *tree_of(event));
    else if (form_ == Form::kTable)
        text = table(event, now);
    else if (event.text != nullptr)
        append_partial_metadata(text, event.text->text());
    else
        store::append_json(text, partial_metadata(tree_of(event)->get_object()));
    append_frame(lines, event.type, text);
}

}  // namespace muster::apiserver_http
