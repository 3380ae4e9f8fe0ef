#include "store/json_text.h"

#include <boost/json/serializer.hpp>

namespace muster::store {

void append_json(std::string& text, const json::value& value) {
    json::serializer serializer;
    serializer.reset(&value);
    char buffer[4096];
    while (!serializer.done()) {
        const json::string_view piece = serializer.read(buffer);
        text.append(piece.data(), piece.size());
    }
}

}  // namespace muster::store
