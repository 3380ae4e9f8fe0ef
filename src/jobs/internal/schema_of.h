#pragma once

#include "base/check.h"
#include "jobs/internal/field_notes.h"
#include "jobs/internal/schema_parts.h"
#include "jobs/job.h"
#include "kube/objects/codec_impl.h"

// The OpenAPI schema of a described struct, from the same description as its JSON codec. Include it
// only in the .cc of a kind: Boost.Describe's algorithms are slow to compile.

namespace muster::jobs {

template <class T>
kube::Schema::Ptr schema_of();

namespace schema_parts {

template <class T>
concept Noted = requires { field_notes(static_cast<const T*>(nullptr)); };

template <class T>
kube::Schema::Ptr of_type() {
    using Type = kube::Schema::Type;
    if constexpr (kube::codec::kIsOptional<T>) {
        return of_type<typename T::value_type>();
    } else if constexpr (std::is_same_v<T, std::string>) {
        return scalar(Type::kString);
    } else if constexpr (std::is_same_v<T, bool>) {
        return scalar(Type::kBoolean);
    } else if constexpr (std::is_same_v<T, std::int32_t>) {
        return scalar(Type::kInteger, "int32");
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
        return scalar(Type::kInteger, "int64");
    } else if constexpr (std::is_same_v<T, kube::ResourceList>) {
        return resource_list();
    } else if constexpr (std::is_same_v<T, kube::PodTemplateSpec>) {
        return kube::core_schema("PodTemplateSpec");
    } else if constexpr (std::is_same_v<T, json::object> || std::is_same_v<T, json::value>) {
        return any_object();
    } else if constexpr (kube::codec::kIsVector<T>) {
        return list_of(of_type<typename T::value_type>());
    } else if constexpr (kube::codec::kIsMap<T>) {
        return map_of(of_type<typename T::mapped_type>());
    } else {
        return schema_of<T>();
    }
}

}  // namespace schema_parts

template <class T>
kube::Schema::Ptr schema_of() {
    FieldNotes notes;
    if constexpr (schema_parts::Noted<T>) notes = field_notes(static_cast<const T*>(nullptr));
    auto schema = std::make_shared<kube::Schema>();
    schema->type = kube::Schema::Type::kObject;
    std::size_t used = 0;
    boost::mp11::mp_for_each<kube::codec::MembersOf<T>>([&](auto D) {
        using M = kube::codec::Member<T, decltype(D)>;
        using Type = std::remove_cvref_t<decltype(std::declval<T&>().*D.pointer)>;
        if constexpr (M::kIsRest) {
            schema->preserve_unknown = true;
        } else {
            const FieldNote* note = note_of(notes, D.name);
            if (note != nullptr) ++used;
            add_property(*schema, M::name(), schema_parts::of_type<Type>(), note);
        }
    });
    CHECK(used == notes.size(), "a field note names a member that its struct does not have");
    return schema;
}

// Instantiated in shared_structs.cc.
extern template kube::Schema::Ptr schema_of<RunPolicy>();
extern template kube::Schema::Ptr schema_of<ReplicaSpec>();
extern template kube::Schema::Ptr schema_of<ExcludedNode>();

}  // namespace muster::jobs
