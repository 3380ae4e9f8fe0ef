#include "apiserver/internal/volumes/waiting_claims.h"

#include <algorithm>

namespace muster::apiserver {

void WaitingClaims::put(NamespacedName key, const ClaimFacts& claim) {
    erase(key);
    Place place{.volume = claim.volume_name,
                .class_name = claim.class_name,
                .wish = {.mode = claim.mode,
                         .access_modes = claim.access_modes,
                         .selector = claim.selector.to_string()},
                .request = claim.request};
    std::ranges::sort(place.wish.access_modes);
    if (place.volume.empty()) {
        Wishers& wishers = by_class_[place.class_name][place.wish];
        if (wishers.by_amount.empty()) {
            wishers.claim = claim;
            wishers.claim.request = {};
        }
        wishers.by_amount.emplace(place.request, key);
    } else {
        by_volume_[place.volume].insert(key);
    }
    places_.emplace(std::move(key), std::move(place));
}

void WaitingClaims::erase(const NamespacedName& key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return;
    const Place& place = found->second;
    if (place.volume.empty()) {
        const auto of_class = by_class_.find(place.class_name);
        const auto wishers = of_class->second.find(place.wish);
        wishers->second.by_amount.erase({place.request, key});
        if (wishers->second.by_amount.empty()) of_class->second.erase(wishers);
        if (of_class->second.empty()) by_class_.erase(of_class);
    } else {
        const auto of_volume = by_volume_.find(place.volume);
        of_volume->second.erase(key);
        if (of_volume->second.empty()) by_volume_.erase(of_volume);
    }
    places_.erase(found);
}

std::optional<NamespacedName> WaitingClaims::taker_of(const VolumeFacts& volume,
                                                      const std::string& default_class) const {
    if (const auto named = by_volume_.find(volume.name); named != by_volume_.end())
        return *named->second.begin();
    for (const Class& name : {Class(volume.class_name), Class()}) {
        if (!name && volume.class_name != default_class) continue;
        const auto of_class = by_class_.find(name);
        if (of_class == by_class_.end()) continue;
        for (const auto& [wish, wishers] : of_class->second) {
            const auto& [least, key] = *wishers.by_amount.begin();
            if (least <= volume.capacity && suits(volume, wishers.claim, volume.class_name))
                return key;
        }
    }
    return std::nullopt;
}

std::vector<NamespacedName> WaitingClaims::of_class(const std::string& name,
                                                    bool is_default) const {
    std::vector<NamespacedName> keys;
    for (const Class& each : {Class(name), Class()}) {
        if (!each && !is_default) continue;
        const auto found = by_class_.find(each);
        if (found == by_class_.end()) continue;
        for (const auto& [wish, wishers] : found->second)
            for (const auto& [amount, key] : wishers.by_amount) keys.push_back(key);
    }
    return keys;
}

}  // namespace muster::apiserver
