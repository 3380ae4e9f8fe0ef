#include "apiserver_http/internal/wire/frames.h"

#include "kube/transport/transport_names.h"

namespace muster::apiserver_http {

void append_frame(std::string& lines, kube::WatchEventType type, std::string_view object) {
    lines += "{\"type\":\"";
    lines += kube::event_type_name(type);
    lines += "\",\"object\":";
    lines += object;
    lines += "}\n";
}

}  // namespace muster::apiserver_http
