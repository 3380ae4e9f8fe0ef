#include "apiserver/internal/wire/frames.h"

#include <boost/json/serializer.hpp>

#include "kube/transport/transport_names.h"

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

void append_frame(std::string& lines, kube::WatchEventType type, std::string_view object) {
    lines += "{\"type\":\"";
    lines += kube::event_type_name(type);
    lines += "\",\"object\":";
    lines += object;
    lines += "}\n";
}

}  // namespace muster::apiserver
