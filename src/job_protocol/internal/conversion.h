#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/time/clock.h"

namespace muster::job_protocol {

// From structs to messages and back, by lists of fields (field_lists.h). How a member is written
// follows from its type:
//
// | member | in the message |
// |---|---|
// | integer, bool, text | the same |
// | double | the same; what is negative or no number is read as 0, since all are measured rates |
// | enum | its name; what is unknown is read as the first of kNames |
// | duration | a count of its unit; what is longer than a day, or of seconds than a century, is read as that |
// | WallTime | nanoseconds since 1970 |
// | struct with a list | a message |
// | optional, shared_ptr | a field that is present if there is a value |
// | vector, set | a repeated field |
// | map | a repeated message of key and value; an empty value is not read |
// | variant | a oneof; if it is empty, or unknown, the variant is read as its first alternative |

/// The message of a struct, and its fields.
template <class T>
inline constexpr auto kMessage = nullptr;
template <class WireMessage, class... Fields>
struct Message {
    using Wire = WireMessage;
    std::tuple<Fields...> fields;
};
template <class T>
concept HasMessage = !std::is_null_pointer_v<decltype(kMessage<T>)>;
template <HasMessage T>
using WireOf = typename decltype(kMessage<T>)::Wire;

/// The names of an enum's values.
template <class T>
inline constexpr auto kNames = nullptr;
template <class T>
using Name = std::pair<T, std::string_view>;

template <class T, template <class...> class Template>
inline constexpr bool kIs = false;
template <class... Arguments, template <class...> class Template>
inline constexpr bool kIs<Template<Arguments...>, Template> = true;

/// One value, as its message or its field has it.
template <class T>
auto to_wire_form(const T& value) {
    if constexpr (HasMessage<T>) {
        WireOf<T> wire;
        std::apply([&](const auto&... field) { (field.write(value, wire), ...); },
                   kMessage<T>.fields);
        return wire;
    } else if constexpr (std::is_enum_v<T>) {
        return std::string(std::ranges::find(kNames<T>, value, &Name<T>::first)->second);
    } else if constexpr (kIs<T, std::chrono::duration>) {
        return static_cast<std::uint64_t>(value.count());
    } else if constexpr (std::same_as<T, WallTime>) {
        return value.time_since_epoch().count();
    } else {
        return value;
    }
}
template <class T, class Wire>
T from_wire_form(const Wire& wire) {
    if constexpr (HasMessage<T>) {
        T value;
        std::apply([&](const auto&... field) { (field.read(wire, value), ...); },
                   kMessage<T>.fields);
        return value;
    } else if constexpr (std::is_enum_v<T>) {
        const auto found = std::ranges::find(kNames<T>, wire, &Name<T>::second);
        return found == kNames<T>.end() ? kNames<T>.front().first : found->first;
    } else if constexpr (kIs<T, std::chrono::duration>) {
        constexpr std::chrono::days kMost(std::same_as<T, std::chrono::seconds> ? 36'525 : 1);
        constexpr auto kLongest = static_cast<std::uint64_t>(T(kMost).count());
        return T(static_cast<typename T::rep>(std::min<std::uint64_t>(wire, kLongest)));
    } else if constexpr (std::same_as<T, WallTime>) {
        return WallTime(Duration(wire));
    } else if constexpr (std::same_as<T, double>) {
        return std::isfinite(wire) && wire > 0 ? wire : 0;
    } else {
        return wire;
    }
}

/// A member of a struct, and the accessors of its field in the message.
template <class Member, class Get, class Set, class Edit, class Has>
struct Field {
    std::string_view name;  ///< in the message
    Member member;
    Get get;
    Set set;
    Edit edit;
    Has has;

    void write(const auto& from, auto& to) const { write_value(member(from), to); }
    void read(const auto& from, auto& to) const { read_value(from, member(to)); }

  private:
    template <class T>
    void write_value(const T& value, auto& to) const {
        if constexpr (kIs<T, std::optional> || kIs<T, std::shared_ptr>) {
            if (value) write_value(*value, to);
        } else if constexpr (kIs<T, std::vector> || kIs<T, std::set>) {
            for (const auto& one : value) *edit(to)->Add() = to_wire_form(one);
        } else if constexpr (kIs<T, std::map>) {
            for (const auto& [key, one] : value)
                *edit(to)->Add() = to_wire_form(std::pair(key, one));
        } else if constexpr (HasMessage<T>) {
            *edit(to) = to_wire_form(value);
        } else {
            set(to, to_wire_form(value));
        }
    }
    template <class T>
    void read_value(const auto& from, T& to) const {
        if constexpr (kIs<T, std::optional>) {
            if (has(from)) to = from_wire_form<typename T::value_type>(get(from));
        } else if constexpr (kIs<T, std::shared_ptr>) {
            using Value = std::remove_const_t<typename T::element_type>;
            if (has(from)) to = std::make_shared<Value>(from_wire_form<Value>(get(from)));
        } else if constexpr (kIs<T, std::vector>) {
            for (const auto& one : get(from))
                to.push_back(from_wire_form<typename T::value_type>(one));
        } else if constexpr (kIs<T, std::set>) {
            for (const auto& one : get(from))
                to.insert(from_wire_form<typename T::value_type>(one));
        } else if constexpr (kIs<T, std::map>) {
            using Entry = std::pair<typename T::key_type, typename T::mapped_type>;
            for (const auto& one : get(from))
                if (Entry entry = from_wire_form<Entry>(one); !entry.second.empty())
                    to.insert_or_assign(std::move(entry.first), std::move(entry.second));
        } else {
            to = from_wire_form<T>(get(from));
        }
    }
};

/// A member that is a variant of structs, and the fields of the oneof.
template <class Member, class... Fields>
struct OneOf {
    Member member;
    std::tuple<Fields...> fields;

    void write(const auto& from, auto& to) const {
        std::visit(
            [&](const auto& value) { each([&](const auto& field) { put(value, field, to); }); },
            member(from));
    }
    void read(const auto& from, auto& to) const {
        each([&](const auto& field) {
            if (field.has(from)) take(field.get(from), member(to));
        });
    }
    void each(auto what) const {
        std::apply([&](const auto&... field) { (what(field), ...); }, fields);
    }

  private:
    template <class T>
    static void put(const T& value, const auto& field, auto& to) {
        if constexpr (std::same_as<WireOf<T>*, decltype(field.edit(to))>)
            *field.edit(to) = to_wire_form(value);
    }
    template <class Wire, class... T>
    static void take(const Wire& from, std::variant<T...>& to) {
        static_assert(sizeof...(T) == sizeof...(Fields), "an alternative or a field is missing");
        const auto take_as = [&]<class One>(std::type_identity<One>) {
            if constexpr (std::same_as<WireOf<One>, Wire>) to = from_wire_form<One>(from);
        };
        (take_as(std::type_identity<T>()), ...);
    }
};

}  // namespace muster::job_protocol
