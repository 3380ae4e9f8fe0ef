#include "apiserver/resources/registry.h"

namespace muster::apiserver {

void Registry::add(DefPtr def) {
    // A definition can't replace a built-in kind, nor the rules that belong to it.
    if (def->custom) {
        const DefPtr same = find(def->type.api_version(), def->type.plural);
        const auto stored = resources_.find(def->storage_key());
        if ((same != nullptr && !same->custom) ||
            (stored != resources_.end() && !stored->second->custom))
            return;
    }
    ++generation_;
    const std::string version = def->type.api_version();
    by_plural_[version][def->type.plural] = def;
    by_kind_[version][def->type.kind] = def;
    if (def->storage_version) resources_[def->storage_key()] = std::move(def);
}

void Registry::remove(std::string_view qualified) {
    ++generation_;
    for (auto* index : {&by_plural_, &by_kind_}) {
        for (auto version = index->begin(); version != index->end();) {
            std::erase_if(version->second, [&](const auto& entry) {
                return entry.second->custom && entry.second->storage_key() == qualified;
            });
            version = version->second.empty() ? index->erase(version) : std::next(version);
        }
    }
    if (auto it = resources_.find(qualified); it != resources_.end() && it->second->custom)
        resources_.erase(it);
}

std::vector<DefPtr> Registry::served_as(const ResourceDef& def) const {
    std::vector<DefPtr> served;
    for (const auto& [api_version, defs] : by_plural_)
        if (const auto found = defs.find(def.type.plural);
            found != defs.end() && found->second->served &&
            found->second->storage_key() == def.storage_key())
            served.push_back(found->second);
    return served;
}

std::map<std::string, std::vector<DefPtr>> Registry::served() const {
    std::map<std::string, std::vector<DefPtr>> served;
    for (const auto& [api_version, defs] : by_plural_)
        for (const auto& [plural, def] : defs)
            if (def->served) served[api_version].push_back(def);
    return served;
}

DefPtr Registry::any_of(std::string_view api_version) const {
    const auto version = by_plural_.find(api_version);
    if (version == by_plural_.end()) return nullptr;
    for (const auto& [plural, def] : version->second)
        if (def->served) return def;
    return nullptr;
}

bool Registry::serves(std::string_view api_version) const {
    return by_plural_.find(api_version) != by_plural_.end();
}

DefPtr Registry::find(std::string_view api_version, std::string_view plural) const {
    auto version = by_plural_.find(api_version);
    if (version == by_plural_.end()) return nullptr;
    auto def = version->second.find(plural);
    return def == version->second.end() ? nullptr : def->second;
}

DefPtr Registry::find_kind(std::string_view api_version, std::string_view kind) const {
    auto version = by_kind_.find(api_version);
    if (version == by_kind_.end()) return nullptr;
    auto def = version->second.find(kind);
    return def == version->second.end() ? nullptr : def->second;
}

}  // namespace muster::apiserver
