#include "apiserver_http/internal/wire/event_lines.h"

#include <utility>

#include "apiserver_http/internal/json_access.h"
#include "apiserver_http/internal/wire/frames.h"
#include "store/json_text.h"

namespace muster::apiserver_http {

std::string EventLines::table(const apiserver::WatchedEvent& event, WallTime now) {
    const kube::ObjectPtr object = event.object();
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
        store::append_json(text, *event.object());
    else if (form_ == Form::kTable)
        text = table(event, now);
    else if (event.text != nullptr)
        append_partial_metadata(text, event.text->text());
    else
        store::append_json(text, partial_metadata(event.object()->get_object()));
    append_frame(lines, event.type, text);
}

}  // namespace muster::apiserver_http
