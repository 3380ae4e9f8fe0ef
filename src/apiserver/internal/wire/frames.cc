#include "apiserver/internal/wire/frames.h"

#include <boost/json/serializer.hpp>
#include <functional>

#include "kube/transport_names.h"

namespace muster::apiserver {

void append_json(std::string& text, const json::value& value) {
    json::serializer serializer;
    serializer.reset(&value);
    char buffer[4096];
    while (!serializer.done()) {
        const json::string_view piece = serializer.read(buffer);
        text.append(piece.data(), piece.size());
    }
}

std::string make_frame(kube::WatchEventType type, const json::value& object) {
    std::string text = "{\"type\":\"";
    text += kube::event_type_name(type);
    text += "\",\"object\":";
    append_json(text, object);
    text += "}\n";
    return text;
}

std::shared_ptr<const std::string> FrameCache::frame(const kube::WatchEvent& event) {
    const std::size_t slot =
        (std::hash<const void*>()(event.object.get()) / 16 + static_cast<std::size_t>(event.type)) %
        kSize;
    Entry& entry = entries_[slot];
    if (entry.object != event.object || entry.type != event.type || entry.text == nullptr) {
        entry = {event.type, event.object,
                 std::make_shared<const std::string>(make_frame(event.type, *event.object))};
        ++made_;
    }
    return entry.text;
}

}  // namespace muster::apiserver
