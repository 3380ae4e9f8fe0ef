#include "jobs/internal/field_notes.h"

namespace muster::jobs {

void add_property(kube::Schema& object, std::string_view json_name, kube::Schema::Ptr type,
                  const FieldNote* note) {
    if (note != nullptr) {
        auto noted = std::make_shared<kube::Schema>(note->schema ? *note->schema : *type);
        noted->description = note->text;
        if (note->minimum) noted->minimum = note->minimum;
        if (note->maximum) noted->maximum = note->maximum;
        if (!note->values.empty()) noted->enumeration = note->values;
        if (!note->default_value.is_null()) noted->default_value = note->default_value;
        if (note->required) object.required.emplace_back(json_name);
        type = std::move(noted);
    }
    object.properties.emplace(json_name, std::move(type));
}

const FieldNote* note_of(const FieldNotes& notes, std::string_view member) {
    for (const FieldNote& note : notes)
        if (note.member == member) return &note;
    return nullptr;
}

}  // namespace muster::jobs
