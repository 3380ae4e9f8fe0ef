#include "runtime/internal/files/object_data.h"

#include "kube/objects/codec.h"
#include "kube/objects/core_objects.h"
#include "kube/values/base64.h"

namespace muster::runtime {

namespace {

Result<KeyValues> decode_data(const std::map<std::string, std::string>& data,
                              const std::string& what) {
    KeyValues decoded;
    for (const auto& [key, value] : data) {
        auto bytes = kube::base64_decode(value);
        if (!bytes)
            return Error(Code::kInvalid, fmt::format("key {} of {} is not base64", key, what));
        decoded.emplace(key, *std::move(bytes));
    }
    return decoded;
}

void take(const StandIns::Objects& stand_ins, const std::string& namespace_,
          const std::string& name, KeyValueObjects& to) {
    if (const KeyValues* data = StandIns::find(stand_ins, namespace_, name))
        to.insert_or_assign(name, *data);
}

}  // namespace

Task<Result<void>> fetch_data(kube::Client& client, const StandIns& stand_ins,
                              std::string namespace_, References references,
                              KeyValueObjects& config_maps, KeyValueObjects& secrets) {
    for (const std::string& name : references.config_maps) {
        config_maps.erase(name);
        auto got = co_await client.get(kube::types::kConfigMaps, namespace_, name);
        if (!got && got.error().code() == Code::kNotFound) {
            take(stand_ins.config_maps, namespace_, name, config_maps);
            continue;
        }
        if (!got) co_return got.error();
        CO_TRY(auto object, kube::decode<kube::ConfigMap>(**got));
        CO_TRY(KeyValues data, decode_data(object.binary_data, "ConfigMap " + name));
        data.insert(object.data.begin(), object.data.end());
        config_maps.insert_or_assign(name, std::move(data));
    }
    for (const std::string& name : references.secrets) {
        secrets.erase(name);
        auto got = co_await client.get(kube::types::kSecrets, namespace_, name);
        if (!got && got.error().code() == Code::kNotFound) {
            take(stand_ins.secrets, namespace_, name, secrets);
            continue;
        }
        if (!got) co_return got.error();
        CO_TRY(auto object, kube::decode<kube::Secret>(**got));
        CO_TRY(KeyValues data, decode_data(object.data, "Secret " + name));
        secrets.insert_or_assign(name, std::move(data));
    }
    co_return Result<void>{};
}

}  // namespace muster::runtime
