#include "cli/internal/envtest/store_place.h"

#include <boost/json/serialize.hpp>

#include "kube/values/read_json.h"

namespace muster::cli {

std::string store_place_text(const StorePlace& place) {
    return json::serialize(json::object{{"dataDir", place.data_dir}, {"sync", place.sync}}) + "\n";
}

Result<StorePlace> read_store_place(std::string_view text) {
    const std::optional<json::value> value = kube::read_json(text);
    const json::object* object = value ? value->if_object() : nullptr;
    const json::value* data_dir = object == nullptr ? nullptr : object->if_contains("dataDir");
    const json::value* sync = object == nullptr ? nullptr : object->if_contains("sync");
    if (data_dir == nullptr || !data_dir->is_string() || sync == nullptr || !sync->is_bool() ||
        !data_dir->get_string().starts_with('/'))
        return Error(Code::kInvalid, "the answer does not say where objects are kept");
    return StorePlace{std::string(data_dir->get_string()), sync->get_bool()};
}

}  // namespace muster::cli
