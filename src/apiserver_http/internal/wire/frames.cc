#include "apiserver_http/internal/wire/frames.h"

#include <algorithm>

#include "kube/transport/transport_names.h"

namespace muster::apiserver_http {

void append_frame(std::string& lines, kube::WatchEventType type, std::string_view object) {
    constexpr std::size_t kAround = 40;  // what stands around the object, with the longest type
    // In one step: growth by doubling would take twice the memory of a large object.
    const std::size_t needed = lines.size() + object.size() + kAround;
    if (needed > lines.capacity()) lines.reserve(std::max(needed, 2 * lines.size()));
    lines += "{\"type\":\"";
    lines += kube::event_type_name(type);
    lines += "\",\"object\":";
    lines += object;
    lines += "}\n";
}

}  // namespace muster::apiserver_http
