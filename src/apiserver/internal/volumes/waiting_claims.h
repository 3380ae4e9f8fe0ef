#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/internal/volumes/volume_facts.h"

namespace muster::apiserver {

/// The claims that wait for a volume, by what they wait for: a volume by its name, or any of a class
/// with certain modes and labels. Whom a volume suits is found by the number of such wishes, and not
/// of claims: of those with one wish the claim that asks for the least decides.
class WaitingClaims {
  public:
    void put(NamespacedName key, const ClaimFacts& claim);
    void erase(const NamespacedName& key);

    /// A claim that may take this free volume. `default_class`: that of claims which name none.
    std::optional<NamespacedName> taker_of(const VolumeFacts& volume,
                                           const std::string& default_class) const;
    /// Those of a class, and, of the default class, those that name none.
    std::vector<NamespacedName> of_class(const std::string& name, bool is_default) const;

  private:
    /// Nothing: the default class.
    using Class = std::optional<std::string>;
    struct Wish {
        std::string mode;
        std::vector<std::string> access_modes;  ///< sorted
        std::string selector;                   ///< as text

        friend auto operator<=>(const Wish&, const Wish&) = default;
    };
    struct Wishers {
        ClaimFacts claim;  ///< one of them, whose amount does not count
        std::set<std::pair<kube::Quantity, NamespacedName>> by_amount;
    };
    struct Place {
        std::string volume;  ///< not empty: by its name
        Class class_name;
        Wish wish;
        kube::Quantity request;
    };

    std::map<NamespacedName, Place> places_;
    std::map<std::string, std::set<NamespacedName>> by_volume_;
    std::map<Class, std::map<Wish, Wishers>> by_class_;
};

}  // namespace muster::apiserver
