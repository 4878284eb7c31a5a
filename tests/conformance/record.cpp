// SPDX-License-Identifier: BSL-1.0
// What the suite has run, for the table of operations. Where the environment variable TAGMA_OPERATIONS names a file,
// the facts go there when the program ends: a line for each device and operation, with fields between tabs: device,
// operation, what computes it, element types that it accepts, those that the device has, those that were run, the types
// of a second operand, those that the device has, whether it has a gradient, element types whose gradient was checked.
// A device that runs programs adds lines for operations beside the table (built/notes.cpp).
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <tuple>

#include "conformance/devices.hpp"
#include "conformance/suite.hpp"

namespace tagma::conformance {

namespace {

using fact = std::tuple<const device*, const char*, dtype, dtype>;
std::set<fact> values_run, gradients_run;

template <class... Row>
void add_rows(family<Row...>, std::vector<operation>& to) {
  (to.push_back(operation_of<Row>()), ...);
}

template <class... Family>
std::vector<operation> rows_of(families<Family...>) {
  std::vector<operation> all;
  (add_rows(Family{}, all), ...);
  return all;
}

[[nodiscard]] bool every_signature(const signature&) { return true; }

/// "float32,int64": the element types for which `holds` says yes for every signature that has them and that counts.
template <class Type, class Holds, class Counts = bool (*)(const signature&)>
std::string list(const operation& o, const Type& type, const Holds& holds, const Counts& counts = &every_signature) {
  std::string text;
  for (const dtype t : element_types) {
    bool any = false, every = true;
    for (const signature& s : o.signatures)
      if (type(s) == t && counts(s)) any = true, every = every && holds(s);
    if (any && every) text += (text.empty() ? "" : ",") + std::string(to_string(t));
  }
  return text;
}

void write_facts(std::ostream& to) {
  for (const device* on : devices()) {
    on->write_more(to);
    for (const operation& o : all_operations()) {
      const ir::op_info& op = *o.rules->info;
      const auto element = [](const signature& s) { return s.element; };
      const auto second = [](const signature& s) { return s.second; };
      const auto in = [&](const std::set<fact>& facts) {
        return [&](const signature& s) { return facts.count({on, op.key, s.element, s.second}) > 0; };
      };
      const auto has = [&](const signature& s) { return on->has(op, s); };
      std::string had;  // element types that the device has with some second type
      for (const dtype t : element_types)
        for (const signature& s : o.signatures)
          if (s.element == t && has(s)) {
            had += (had.empty() ? "" : ",") + std::string(to_string(t));
            break;
          }
      const auto had_with_second = [&](const signature& s) {
        bool any = false;
        for (const signature& other : o.signatures) any = any || (other.element == s.element && has(other));
        return has(s) || !any;
      };
      to << on->name() << '\t' << op.name << '\t'
         << (on->runs_programs()            ? "program"
             : op.kind == ir::op_kind::view ? "view"
             : had.empty()                  ? "none"
                                            : "kernel")
         << '\t' << list(o, element, every_signature) << '\t' << had << '\t' << list(o, element, in(values_run), has)
         << '\t' << list(o, second, every_signature) << '\t' << list(o, second, had_with_second) << '\t'
         << (o.rules->gradient != nullptr ? "yes"
             : o.rules->stops_gradient    ? "zero"
                                          : "none")
         << '\t'
         << list(o, element, in(gradients_run),
                 [&](const signature& s) { return has(s) && is_floating(s.out) && is_floating(s.element); })
         << '\n';
    }
  }
}

/// Writes when the program ends.
class recorder {
 public:
  recorder() : path_(std::getenv("TAGMA_OPERATIONS")) {
    if (path_ == nullptr) return;
    const operation& first = all_operations().front();  // these, and the kernels of each device, end after it
    for (const device* on : devices()) static_cast<void>(on->has(*first.rules->info, first.signatures.front()));
  }
  recorder(const recorder&) = delete;
  recorder& operator=(const recorder&) = delete;
  ~recorder() {
    if (path_ == nullptr) return;
    std::ofstream file(path_);
    write_facts(file);
  }

 private:
  const char* path_;
};
const recorder instance;

}  // namespace

const std::vector<operation>& all_operations() {
  static const std::vector<operation> all = rows_of(all_families{});
  return all;
}

const operation& find_operation(const ir::op_rules& rules) {
  for (const operation& o : all_operations())
    if (o.rules == &rules) return o;
  fail(status_code::not_found, {"operation ", rules.info->name, " is not in the list"});
}

void record_values(const device& on, const ir::op_info& op, const signature& types) {
  values_run.insert({&on, op.key, types.element, types.second});
}

void record_gradient(const device& on, const ir::op_info& op, const signature& types) {
  gradients_run.insert({&on, op.key, types.element, types.second});
}

}  // namespace tagma::conformance
