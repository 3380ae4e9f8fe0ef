#pragma once

#include <algorithm>
#include <array>
#include <boost/describe/members.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>
#include <boost/mp11/algorithm.hpp>
#include <concepts>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "kube/objects/codec.h"
#include "kube/objects/core_objects.h"
#include "kube/objects/pod.h"

// The definitions behind codec.h, for the few .cc that instantiate them:
//
//     MUSTER_INSTANTIATE_CODEC(muster::jobs::ReplicaSpec);
//
// at global scope. Structs inside it need no line of their own.

namespace muster::kube::codec {

// --- names

struct MemberName {
    std::array<char, 64> text{};
    std::size_t size = 0;

    constexpr std::string_view view() const { return {text.data(), size}; }
    constexpr void append(std::string_view part) {
        for (char c : part) text[size++] = c;
    }
};

constexpr MemberName derived_name(std::string_view member) {
    struct Initialism {
        std::string_view word;
        std::string_view written;
    };
    constexpr std::array<Initialism, 5> kInitialisms{
        {{"ip", "IP"}, {"ips", "IPs"}, {"id", "ID"}, {"pid", "PID"}, {"ipc", "IPC"}}};

    MemberName name;
    for (bool first = true; !member.empty(); first = false) {
        std::string_view word = member.substr(0, member.find('_'));
        member.remove_prefix(std::min(word.size() + 1, member.size()));
        if (first || word.empty()) {
            name.append(word);
            continue;
        }
        bool found = false;
        for (const Initialism& initialism : kInitialisms) {
            if (initialism.word != word) continue;
            name.append(initialism.written);
            found = true;
        }
        if (found) continue;
        char head = word.front();
        name.text[name.size++] = head >= 'a' && head <= 'z' ? static_cast<char>(head - 32) : head;
        name.append(word.substr(1));
    }
    return name;
}

template <class T>
concept RenamesMembers = requires {
    {
        json_name(static_cast<const T*>(nullptr), std::string_view{})
    } -> std::convertible_to<std::string_view>;
};

template <class T>
constexpr MemberName name_of(std::string_view member) {
    if constexpr (RenamesMembers<T>) {
        std::string_view renamed = json_name(static_cast<const T*>(nullptr), member);
        if (!renamed.empty()) {
            MemberName name;
            name.append(renamed);
            return name;
        }
    }
    return derived_name(member);
}

/// One described member `D` of `T`: its JSON name, made at compile time, and its position.
template <class T, class D>
struct Member {
    static constexpr MemberName kName = name_of<T>(D::name);
    static constexpr std::string_view name() { return kName.view(); }
    static constexpr bool kIsRest = std::string_view(D::name) == "rest";
};

template <class T>
using MembersOf = boost::describe::describe_members<T, boost::describe::mod_public>;

// --- types

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;
template <class T>
inline constexpr bool kIsMap = false;
template <class T>
inline constexpr bool kIsMap<std::map<std::string, T>> = true;
template <class T>
inline constexpr bool kIsStruct = boost::describe::has_describe_members<T>::value;

// --- paths and problems

/// The current place of decoding: a list on the stack, made into text only if there is something to
/// report.
struct Place {
    const Place* parent = nullptr;
    std::string_view key{};  ///< of the root: its whole path
    std::size_t index = 0;
    bool is_item = false;

    std::string path() const;
};

using Problems = std::vector<Cause>;

/// Adds "must be a string, got a list".
void report_type(const json::value& value, std::string_view wanted, const Place& place,
                 Problems& problems);

void decode_string(const json::value& value, std::string& out, const Place& place,
                   Problems& problems);
void decode_bool(const json::value& value, bool& out, const Place& place, Problems& problems);
void decode_object(const json::value& value, json::object& out, const Place& place,
                   Problems& problems);
/// The integer, if it is one and within the limits.
std::optional<std::int64_t> decode_integer(const json::value& value, std::int64_t min,
                                           std::int64_t max, const Place& place,
                                           Problems& problems);

// --- structs

/// A class, so that a type's code is instantiated once and others link to it.
template <class T>
struct StructCodec {
    static bool has_content(const T& object);
    static json::object encode(const T& object);
    static void decode(const json::value& value, T& object, const Place& place, Problems& problems);
};

template <class T>
bool has_content(const T& value) {
    if constexpr (std::is_arithmetic_v<T>) {
        return value != 0;
    } else if constexpr (std::is_same_v<T, json::value>) {
        return !value.is_null();
    } else if constexpr (kIsOptional<T>) {
        return value.has_value();
    } else if constexpr (kIsStruct<T>) {
        return StructCodec<T>::has_content(value);
    } else {
        return !value.empty();
    }
}

template <class T>
json::value encode_value(const T& value) {
    if constexpr (kIsOptional<T>) {
        return encode_value(*value);
    } else if constexpr (kIsStruct<T>) {
        return StructCodec<T>::encode(value);
    } else if constexpr (kIsVector<T>) {
        json::array items;
        items.reserve(value.size());
        for (const auto& item : value) items.push_back(encode_value(item));
        return items;
    } else if constexpr (kIsMap<T>) {
        json::object entries;
        entries.reserve(value.size());
        for (const auto& [key, item] : value) entries.emplace(key, encode_value(item));
        return entries;
    } else if constexpr (std::is_same_v<T, std::string>) {
        return json::string(value);
    } else {
        return value;
    }
}

template <class T>
void decode_value(const json::value& value, T& out, const Place& place, Problems& problems) {
    if constexpr (std::is_same_v<T, json::value>) {
        out = value;
    } else if (value.is_null()) {
        return;
    } else if constexpr (std::is_same_v<T, std::string>) {
        decode_string(value, out, place, problems);
    } else if constexpr (std::is_same_v<T, bool>) {
        decode_bool(value, out, place, problems);
    } else if constexpr (std::is_integral_v<T>) {
        using Limits = std::numeric_limits<T>;
        if (auto integer = decode_integer(value, Limits::min(), Limits::max(), place, problems))
            out = static_cast<T>(*integer);
    } else if constexpr (std::is_same_v<T, json::object>) {
        decode_object(value, out, place, problems);
    } else if constexpr (kIsOptional<T>) {
        const std::size_t before = problems.size();
        typename T::value_type inner{};
        decode_value(value, inner, place, problems);
        // A scalar that could not be read stays unset; a struct keeps what could be read.
        if (problems.size() == before || kIsStruct<typename T::value_type>) out = std::move(inner);
    } else if constexpr (kIsVector<T>) {
        const json::array* items = value.if_array();
        if (items == nullptr) return report_type(value, "a list", place, problems);
        out.clear();
        out.resize(items->size());
        for (std::size_t i = 0; i < items->size(); ++i) {
            Place item{.parent = &place, .index = i, .is_item = true};
            decode_value((*items)[i], out[i], item, problems);
        }
    } else if constexpr (kIsMap<T>) {
        const json::object* entries = value.if_object();
        if (entries == nullptr) return report_type(value, "an object", place, problems);
        out.clear();
        for (const auto& entry : *entries) {
            Place item{.parent = &place, .key = entry.key()};
            decode_value(entry.value(), out[entry.key()], item, problems);
        }
    } else {
        static_assert(kIsStruct<T>, "not a type that the codec knows");
        StructCodec<T>::decode(value, out, place, problems);
    }
}

template <class T>
bool StructCodec<T>::has_content(const T& object) {
    bool content = false;
    boost::mp11::mp_for_each<MembersOf<T>>(
        [&](auto D) { content = content || codec::has_content(object.*D.pointer); });
    return content;
}

template <class T>
json::object StructCodec<T>::encode(const T& object) {
    std::size_t fields = 0;
    boost::mp11::mp_for_each<MembersOf<T>>([&](auto D) {
        const auto& member = object.*D.pointer;
        if constexpr (Member<T, decltype(D)>::kIsRest)
            fields += member.size();
        else if (codec::has_content(member))
            ++fields;
    });
    json::object out;
    out.reserve(fields);
    boost::mp11::mp_for_each<MembersOf<T>>([&](auto D) {
        using M = Member<T, decltype(D)>;
        const auto& member = object.*D.pointer;
        if constexpr (M::kIsRest) {
            for (const auto& entry : member) out.emplace(entry.key(), entry.value());
        } else if (codec::has_content(member)) {
            out.emplace(M::name(), encode_value(member));
        }
    });
    return out;
}

template <class T>
void StructCodec<T>::decode(const json::value& value, T& object, const Place& place,
                            Problems& problems) {
    const json::object* fields = value.if_object();
    if (fields == nullptr) return report_type(value, "an object", place, problems);
    for (const auto& field : *fields) {
        const std::string_view key = field.key();
        bool known = false;
        boost::mp11::mp_for_each<MembersOf<T>>([&](auto D) {
            using M = Member<T, decltype(D)>;
            if constexpr (!M::kIsRest) {
                if (known || key != M::name()) return;
                known = true;
                Place member{.parent = &place, .key = key};
                decode_value(field.value(), object.*D.pointer, member, problems);
            }
        });
        if constexpr (requires(T& t) { t.rest; }) {
            if (!known) object.rest.insert_or_assign(key, field.value());
        }
    }
}

}  // namespace muster::kube::codec

namespace muster::kube {

template <class T>
json::value encode(const T& object) {
    return codec::StructCodec<T>::encode(object);
}

template <class T>
void decode_into(const json::value& value, T& object, const std::string& path,
                 std::vector<Cause>& problems) {
    codec::Place root{.key = path};
    codec::decode_value(value, object, root, problems);
}

}  // namespace muster::kube

#define MUSTER_INSTANTIATE_CODEC(Type)                                               \
    template struct muster::kube::codec::StructCodec<Type>;                          \
    template muster::json::value muster::kube::encode<Type>(const Type&);            \
    template void muster::kube::decode_into<Type>(const muster::json::value&, Type&, \
                                                  const std::string&, std::vector<muster::Cause>&)

// Made in codec.cc; users of this header link to them.
extern template struct muster::kube::codec::StructCodec<muster::kube::ObjectMeta>;
extern template struct muster::kube::codec::StructCodec<muster::kube::PodTemplateSpec>;
extern template struct muster::kube::codec::StructCodec<muster::kube::PodSpec>;
extern template struct muster::kube::codec::StructCodec<muster::kube::PodStatus>;
