// SPDX-License-Identifier: BSL-1.0
#pragma once

/// @file
/// Learning rates that change with the number of steps, with TensorFlow's formulas. They are run-time values: changing
/// one does not recompile anything.

#include <initializer_list>

#include "tagma/base/config.hpp"
#include "tagma/base/scalar_math.hpp"
#include "tagma/expr/op/elementwise.hpp"

namespace tagma {

/// How a learning rate follows the step.
enum class schedule_kind : std::uint8_t { constant, exponential, piecewise, polynomial, cosine };

/// initial * decay_rate ^ (step / decay_steps); the exponent is rounded down if `staircase`. Throws InvalidArgument for
/// decay_steps that are not above 0.
struct exponential_decay {
  double initial = 0.01;
  double decay_steps = 1;
  double decay_rate = 0.96;
  bool staircase = false;
};
/// Numbers in a row: written in braces, or anything that has data() and size().
class number_list {
 public:
  number_list() = default;
  number_list(std::initializer_list<double> numbers) : number_list(numbers.begin(), numbers.size()) {}
  template <class Range>
    requires(!std::is_same_v<Range, number_list> && requires(const Range& r) { static_cast<const double*>(r.data()); })
  number_list(const Range& range) : number_list(range.data(), range.size()) {}

  /// How many there are.
  [[nodiscard]] std::size_t size() const { return bytes_.size() / sizeof(double); }
  [[nodiscard]] const double* begin() const { return bytes_.as<const double>().begin(); }
  [[nodiscard]] const double* end() const { return bytes_.as<const double>().end(); }

 private:
  number_list(const double* numbers, std::size_t count) : bytes_(count * sizeof(double)) {
    const array_view<double> list = bytes_.as<double>();
    for (std::size_t i = 0; i < count; ++i) list[i] = numbers[i];
  }

  shared_bytes bytes_;
};
/// values[0] up to and including step boundaries[0], values[1] up to boundaries[1], and so on; one value more than
/// boundaries.
struct piecewise_constant {
  number_list boundaries;
  number_list values;
};
/// (initial - final) * (1 - step / decay_steps) ^ power + final, and `final` afterwards. Throws InvalidArgument for
/// decay_steps that are not above 0.
struct polynomial_decay {
  double initial = 0.01;
  double decay_steps = 1;
  double final = 0.0001;
  double power = 1;
};
/// initial * ((1 - alpha) * (1 + cos(pi * step / decay_steps)) / 2 + alpha); and
/// initial * alpha afterwards. Loshchilov and Hutter 2016. Throws InvalidArgument for decay_steps that are not above 0.
struct cosine_decay {
  double initial = 0.01;
  double decay_steps = 1;
  double alpha = 0;
};

/// A learning rate: a number or a schedule, optionally after a linear warm-up.
class rate {
 public:
  constexpr static std::size_t warm_up_index = 0;

  rate(double value = 0.01) { set(schedule_kind::constant, {0, value}); }
  rate(const exponential_decay& s) {
    set(schedule_kind::exponential, {0, s.initial, positive(s.decay_steps), s.decay_rate, s.staircase ? 1.0 : 0.0});
  }
  rate(const polynomial_decay& s) {
    set(schedule_kind::polynomial, {0, s.initial, positive(s.decay_steps), s.final, s.power});
  }
  rate(const cosine_decay& s) { set(schedule_kind::cosine, {0, s.initial, positive(s.decay_steps), s.alpha}); }
  rate(const piecewise_constant& s) {
    if (s.values.size() != s.boundaries.size() + 1)
      fail(status_code::invalid_argument, {"piecewise_constant: needs one value more than boundaries, not ",
                                           s.values.size(), " for ", s.boundaries.size()});
    const array_view<double> list = make_list(schedule_kind::piecewise, 1 + s.boundaries.size() + s.values.size());
    double* to = list.data();
    *to++ = 0;
    for (const double b : s.boundaries) *to++ = b;
    for (const double v : s.values) *to++ = v;
  }

  /// The schedule, as programs carry it.
  [[nodiscard]] const carried_value& value() const { return value_; }

  /// The same rate times (step + 1) / `steps` during the first `steps` steps: it grows in equal parts, the first of
  /// them at step 0, while the schedule goes on beneath. None for 0.
  [[nodiscard]] rate after_warm_up(double steps) const {
    rate r = *this;
    const auto mine = value_.bytes.as<const double>();
    const array_view<double> list = r.make_list(static_cast<schedule_kind>(value_.integer), mine.size());
    for (std::size_t i = 0; i < mine.size(); ++i) list[i] = mine[i];
    list[warm_up_index] = steps;
    return r;
  }

 private:
  static double positive(double steps) {
    if (!(steps > 0)) fail(status_code::invalid_argument, "a learning rate schedule needs decay_steps above 0");
    return steps;
  }
  array_view<double> make_list(schedule_kind kind, std::size_t size) {
    value_.integer = static_cast<std::int64_t>(kind);
    value_.bytes = shared_bytes(size * sizeof(double));
    return value_.bytes.as<double>();
  }
  TAGMA_COLD void set(schedule_kind kind, std::initializer_list<double> parameters) {
    double* to = make_list(kind, parameters.size()).data();
    for (const double p : parameters) *to++ = p;
  }

  carried_value value_;
};

/// The learning rate at a step, on every device.
/// @param p    what `rate::value` carries, `count` numbers
/// @param step updates done so far
TAGMA_DEVICE double evaluate(schedule_kind kind, const double* p, std::int64_t count, double step) {
  const double warm = p[0];
  double result = p[1];
  switch (kind) {
    case schedule_kind::constant:
      break;
    case schedule_kind::exponential: {
      const double exponent = step / p[2];
      result = p[1] * scalar_math::pow(p[3], p[4] != 0 ? scalar_math::floor(exponent) : exponent);
      break;
    }
    case schedule_kind::polynomial: {
      const double done = step < p[2] ? step : p[2];
      result = (p[1] - p[3]) * scalar_math::pow(1 - done / p[2], p[4]) + p[3];
      break;
    }
    case schedule_kind::cosine: {
      const double done = step < p[2] ? step : p[2];
      result = p[1] * ((1 - p[3]) * 0.5 * (1 + scalar_math::cos(3.14159265358979323846 * done / p[2])) + p[3]);
      break;
    }
    case schedule_kind::piecewise: {
      const std::int64_t boundaries = (count - 2) / 2;
      std::int64_t i = 0;
      while (i < boundaries && step > p[1 + i]) ++i;
      result = p[1 + boundaries + i];
      break;
    }
  }
  return step < warm ? result * (step + 1) / warm : result;
}

/// The learning rate that a program carries, at a step.
[[nodiscard]] TAGMA_COLD inline double evaluate(const carried_value& v, double step) {
  const auto p = v.bytes.as<const double>();
  return evaluate(static_cast<schedule_kind>(v.integer), p.data(), static_cast<std::int64_t>(p.size()), step);
}

namespace op {

/// The learning rate at the step that input 0 holds; the program carries its schedule.
struct scheduled_rate {
  static constexpr const char* name = "scheduled_rate";
  static constexpr ir::op_kind kind = ir::op_kind::compute;
  static constexpr void takes(auto& t) { t.inputs(1), t.int64_at(0), t.scalar(0); }
  TAGMA_COLD static constexpr const char* infer(ir::infer_args& a) {
    a.out = {dtype::float64, {}};
    return nullptr;
  }
};

}  // namespace op

namespace detail {

template <class Place, class Step>
struct rate_definition {
  static constexpr std::uint64_t hash =
      with_seen_hash<Place>(hash_combine(hash_text("scheduled_rate"), Step::record().hash));
  using id = std::conditional_t<is_no_place<Place>, structural_id<hash>, id_of_place<Place, hash>>;
  static constexpr fixed_array<const ir::record*, 1> inputs{{find_record<typename Step::id>()}};
  static constexpr tensor_spec spec{dtype::float64, {}};
  static constexpr ir::record value{
      ir::rules_for<op::scheduled_rate, Step>, hash, spec, inputs, {}, {}, {}, true, true};
};

template <class Place, class Step>
[[nodiscard]] auto make_rate(const Step&, const rate& r) {
  using definition = rate_definition<Place, Step>;
  using id = typename binding<typename definition::id, definition>::id;
  return expr<spec<double>, id, true>{carried(r.value())};
}

}  // namespace detail
}  // namespace tagma
