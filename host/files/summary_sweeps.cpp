#include "host/files/summary_sweeps.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "host/files/write_origin.h"
#include "host/statistics/statistics_result.h"

namespace zwang {

namespace {

using Json = SummaryJson;

bool is_text(const Json& json) {
  return json.is_string() || (json.is_array() && std::all_of(json.begin(), json.end(), [](const Json& one) {
                                return one.is_string();
                              }));
}

// The value of a key, null if there is none. Objects of points have nearly always the same keys in the same
// order: `place` is where the key is looked for first.
Json& member_of(Json& json, const std::string& key, std::size_t place, Json& none) {
  auto* object = json.get_ptr<Json::object_t*>();
  if (object == nullptr) return none;
  if (place < object->size() && (object->begin() + static_cast<std::ptrdiff_t>(place))->first == key)
    return (object->begin() + static_cast<std::ptrdiff_t>(place))->second;
  const auto found = object->find(key);
  return found == object->end() ? none : found->second;
}

}  // namespace

SummaryJson json_by_point(const std::vector<SummaryJson*>& points) {
  const bool objects =
      std::any_of(points.begin(), points.end(), [](const Json* one) { return one->is_object(); });
  if (objects) {
    Json made = Json::object();
    // A list of keys that grows copies its values: there is room for all from the start.
    auto& keys = made.get_ref<Json::object_t&>();
    for (const Json* point : points) keys.reserve(point->size());
    Json none;
    for (const Json* point : points) {
      const auto* object = point->get_ptr<const Json::object_t*>();
      for (std::size_t place = 0; object != nullptr && place < object->size(); ++place) {
        const std::string key = (object->begin() + static_cast<std::ptrdiff_t>(place))->first;
        const bool in_place =
            place < keys.size() && (keys.begin() + static_cast<std::ptrdiff_t>(place))->first == key;
        if (in_place || made.contains(key)) continue;
        std::vector<Json*> values;
        values.reserve(points.size());
        for (Json* one : points) values.push_back(&member_of(*one, key, place, none));
        made[key] = json_by_point(values);
      }
    }
    return made;
  }
  if ((is_text(*points.front()) || points.front()->is_null()) &&
      std::all_of(points.begin(), points.end(), [&](const Json* one) { return *one == *points.front(); }))
    return *points.front();
  Json::array_t made;
  made.reserve(points.size());
  for (Json* point : points) made.push_back(std::move(*point));
  return made;
}

SummaryJson sweep_json(const Study& study) {
  Json json{{"names", Json::array()},
            {"dimensions", sweep_dimensions(study)},
            {"values", Json::array()},
            {"shape", Json::array()},
            {"scales", Json::array()}};
  for (const Sweep& sweep : study.sweeps) {
    json["names"].push_back(sweep.name);
    json["values"].push_back(sweep.values);
    json["shape"].push_back(sweep.values.size());
    json["scales"].push_back(sweep.logarithmic ? "log" : "linear");
  }
  json["points"] = study.ensemble.points();
  json["members_per_point"] = study.ensemble.members_per_point;
  json["streams"] = study.ensemble.streams == Streams::common ? "common" : "independent";
  return json;
}

// The members of the points.
SummaryJson members_by_point(const Study& study, const RunResult& result) {
  // The rows of pick-freeze have a member in each block.
  const long long blocks = study.sensitivity ? static_cast<long long>(study.sensitivity->blocks()) : 1;
  Json json{{"integrated", Json::array()},
            {"entered", Json::array()},
            {"failed", Json::array()},
            {"met_until", Json::array()}};
  for (const StatisticsResult& point : result.points) {
    json["integrated"].push_back(point.members * blocks);
    json["entered"].push_back(point.entered);
    json["failed"].push_back(point.failed);
    json["met_until"].push_back(point.met_until);
  }
  return json;
}

}  // namespace zwang
