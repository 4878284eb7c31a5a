// SPDX-License-Identifier: BSL-1.0
#include <catch2/catch.hpp>

#include "conformance/suite.hpp"

namespace {

using namespace tagma::conformance;
using tagma::dtype, tagma::extent, tagma::shape, tagma::tensor_spec, tagma::to_end;
namespace op = tagma::op;
namespace ir = tagma::ir;

using attribute_values = std::vector<ir::attribute>;

/// Positions of the whole that a part begins at, by attributes of a slice.
position first_of(const shape& whole, const attribute_values& a) {
  position first;
  for (int i = 0; i < whole.rank; ++i) {
    const extent at = a[2 * static_cast<std::size_t>(i)];
    first.push_back(at < 0 ? at + whole[i] : at);
  }
  return first;
}
position shifted(const position& p, const position& by) {
  position moved = p;
  for (std::size_t i = 0; i < p.size(); ++i) moved[i] += by[i];
  return moved;
}
/// `whole` with `part` at `first`.
array put(array whole, const array& part, const position& first) {
  extent n = 0;
  for_each_position(part.dims, [&](const position& p) { whole[place(whole.dims, shifted(p, first))] = part[n++]; });
  return whole;
}
/// The part of `whole` that begins at `first`.
array take(const array& whole, const shape& dims, const position& first) {
  array part(dims);
  extent n = 0;
  for_each_position(dims, [&](const position& p) { part[n++] = whole[place(whole.dims, shifted(p, first))]; });
  return part;
}

struct cut {
  shape whole;
  attribute_values ranges;
};
const std::vector<cut> cuts = {{{13}, {0, to_end}},
                               {{13}, {3, 10}},
                               {{13}, {-5, -1}},
                               {{13}, {4, 4}},
                               {{7, 17}, {1, 7, 0, to_end}},
                               {{7, 17}, {0, to_end, 5, -4}},
                               {{7, 13, 5}, {2, 3, -7, to_end, 1, 4}},
                               {{3, 4, 5, 6}, {1, to_end, 0, -1, 2, 5, 0, to_end}},
                               {{0, 5}, {0, to_end, 1, 3}},
                               {{1, 1}, {0, 1, 0, 1}},
                               {{}, {}},
                               {{2, 3, 2, 3, 2, 3}, {0, 1, 1, 3, 0, 2, -1, to_end, 0, 2, 1, 2}},
                               {{401, 301}, {100, to_end, 3, 200}}};

TEST_CASE("parts") {
  std::vector<problem> parts, back;
  for (const cut& c : cuts) {
    const bool small = c.whole.elements() <= 300;
    parts.push_back({{{c.whole, -9, 9}}, c.ranges, small});
    const tensor_spec in[] = {{dtype::float32, c.whole}};
    ir::infer_args args{in, c.ranges, {}};
    REQUIRE(op::slice::infer(args) == nullptr);
    back.push_back({{{args.out.dims, -9, 9}, {c.whole}}, c.ranges, small});
  }
  check<op::slice>(parts, [](const std::vector<array>& in, const attribute_values& a, const tensor_spec& out) {
    return take(in[0], out.dims, first_of(in[0].dims, a));
  });
  check<op::slice_gradient>(back, [](const std::vector<array>& in, const attribute_values& a, const tensor_spec& out) {
    return put(array(out.dims), in[0], first_of(out.dims, a));
  });
}

TEST_CASE("frames") {
  const std::vector<cut> frames = {{{13}, {0, 0}},
                                   {{13}, {3, 1}},
                                   {{7, 5}, {1, 0, 0, 4}},
                                   {{1, 1}, {2, 2, 7, 0}},
                                   {{0, 3}, {1, 2, 0, 1}},
                                   {{2, 3, 4}, {0, 1, 1, 1, 2, 0}},
                                   {{}, {}},
                                   {{301, 201}, {1, 2, 3, 4}}};
  std::vector<problem> all;
  for (const cut& f : frames) all.push_back({{{f.whole, -9, 9}, {{}, 1, 9}}, f.ranges, f.whole.elements() <= 300});
  check<op::pad>(all, [](const std::vector<array>& in, const attribute_values& a, const tensor_spec& out) {
    position first;
    for (std::size_t i = 0; i < a.size(); i += 2) first.push_back(a[i]);
    return put(array(out.dims, in[1][0]), in[0], first);
  });
}

TEST_CASE("tensors side by side") {
  struct row {
    ir::attribute axis;
    std::vector<shape> parts;
  };
  const std::vector<row> joins = {{0, {{13}}},
                                  {0, {{7}, {1}, {13}}},
                                  {1, {{7, 5}, {7, 1}, {7, 9}}},
                                  {0, {{1, 13}, {3, 13}}},
                                  {1, {{2, 3, 5}, {2, 0, 5}, {2, 4, 5}}},
                                  {2, {{2, 3, 1}, {2, 3, 17}, {2, 3, 8}, {2, 3, 2}}},
                                  {0, {{0, 4}, {0, 4}}},
                                  {1, {{0, 4}, {0, 3}}},
                                  {1, {{301, 100}, {301, 150}}}};
  std::vector<problem> all, taken, placed;
  for (const row& j : joins) {
    problem whole{{}, {j.axis}, true};
    shape sum = j.parts[0];
    sum[static_cast<int>(j.axis)] = 0;
    for (const shape& s : j.parts) {
      whole.in.push_back({s, -9, 9});
      sum[static_cast<int>(j.axis)] += s[static_cast<int>(j.axis)];
    }
    whole.has_gradient = sum.elements() <= 300;
    all.push_back(whole);
    for (std::size_t k = 0; k < j.parts.size(); ++k)
      for (const bool from_end : {false, true}) {
        problem p{{{sum, -9, 9}, {j.parts[k]}}, {j.axis, from_end}, sum.elements() <= 300};
        problem q{{{j.parts[k], -9, 9}, {sum}}, {j.axis, from_end}, sum.elements() <= 300};
        for (std::size_t i = from_end ? k + 1 : 0; i < (from_end ? j.parts.size() : k); ++i) {
          p.in.push_back({j.parts[i]});
          q.in.push_back({j.parts[i]});
        }
        taken.push_back(p);
        placed.push_back(q);
      }
  }
  check<op::concat>(all, [](const std::vector<array>& in, const attribute_values& a, const tensor_spec& out) {
    array whole(out.dims);
    position first(static_cast<std::size_t>(out.dims.rank), 0);
    for (const array& part : in) {
      whole = put(whole, part, first);
      first[static_cast<std::size_t>(a[0])] += part.dims[static_cast<int>(a[0])];
    }
    return whole;
  });
  const auto first = [](const std::vector<array>& in, const attribute_values& a, const shape& whole,
                        const shape& part) {
    const int axis = static_cast<int>(a[0]);
    extent between = 0;
    for (std::size_t i = 2; i < in.size(); ++i) between += in[i].dims[axis];
    position at(static_cast<std::size_t>(whole.rank), 0);
    at[static_cast<std::size_t>(axis)] = a[1] != 0 ? whole[axis] - between - part[axis] : between;
    return at;
  };
  check<op::part_of_whole>(taken, [=](const std::vector<array>& in, const attribute_values& a, const tensor_spec& out) {
    return take(in[0], out.dims, first(in, a, in[0].dims, out.dims));
  });
  check<op::part_into_whole>(placed,
                             [=](const std::vector<array>& in, const attribute_values& a, const tensor_spec& out) {
                               return put(array(out.dims), in[0], first(in, a, out.dims, in[0].dims));
                             });
}

TEST_CASE("repetition") {
  const std::vector<cut> tiles = {{{13}, {1}},       {{13}, {3}},       {{7, 5}, {2, 1}},       {{7, 5}, {1, 3}},
                                  {{1, 17}, {4, 2}}, {{17, 1}, {1, 5}}, {{2, 3, 4}, {2, 3, 2}}, {{}, {}},
                                  {{0, 3}, {2, 2}},  {{3, 0}, {2, 2}},  {{101, 51}, {3, 4}}};
  std::vector<problem> all, back;
  for (const cut& t : tiles) {
    shape whole = t.whole;
    for (int i = 0; i < whole.rank; ++i) whole[i] *= t.ranges[static_cast<std::size_t>(i)];
    all.push_back({{{t.whole, -9, 9}}, t.ranges, whole.elements() <= 300});
    back.push_back({{{whole, -1, 1}, {t.whole}}, t.ranges, whole.elements() <= 300});
  }
  const auto wrapped = [](const shape& part, position p) {
    for (int i = 0; i < part.rank; ++i) p[static_cast<std::size_t>(i)] %= part[i];
    return place(part, p);
  };
  check<op::tile>(all, [=](const std::vector<array>& in, const attribute_values&, const tensor_spec& out) {
    array whole(out.dims);
    extent n = 0;
    for_each_position(out.dims, [&](const position& p) { whole[n++] = in[0][wrapped(in[0].dims, p)]; });
    return whole;
  });
  check<op::tile_gradient>(back,
                           [=](const std::vector<array>& in, const attribute_values&, const tensor_spec& out) {
                             array sums(out.dims);
                             extent n = 0;
                             for_each_position(in[0].dims,
                                               [&](const position& p) { sums[wrapped(out.dims, p)] += in[0][n++]; });
                             return sums;
                           },
                           {.slack = 4});
}

TEST_CASE("axes in another order") {
  const std::vector<cut> orders = {{{13}, {0}},
                                   {{7, 17}, {1, 0}},
                                   {{7, 17}, {0, 1}},
                                   {{1, 13}, {1, 0}},
                                   {{13, 7}, {1, 0}},
                                   {{2, 13, 29}, {0, 2, 1}},
                                   {{3, 5, 7}, {2, 0, 1}},
                                   {{3, 5, 7}, {1, 0, 2}},
                                   {{3, 5, 7}, {0, 2, 1}},
                                   {{3, 5, 7}, {2, 1, 0}},
                                   {{2, 1, 3, 17}, {3, 1, 0, 2}},
                                   {{2, 3, 2, 3, 2, 3}, {5, 3, 1, 0, 2, 4}},
                                   {{0, 3}, {1, 0}},
                                   {{}, {}},
                                   {{33, 301, 5}, {1, 2, 0}},
                                   {{203, 307}, {1, 0}}};
  std::vector<problem> all;
  for (const cut& o : orders) all.push_back({{{o.whole, -9, 9}}, o.ranges, o.whole.elements() <= 300});
  check<op::transpose>(all, [](const std::vector<array>& in, const attribute_values& a, const tensor_spec& out) {
    array moved(out.dims);
    extent n = 0;
    for_each_position(out.dims, [&](const position& p) {
      position from(p.size());
      for (std::size_t i = 0; i < p.size(); ++i) from[static_cast<std::size_t>(a[i])] = p[i];
      moved[n++] = in[0][place(in[0].dims, from)];
    });
    return moved;
  });
}

/// A position of a gather's result as one of the slices and one of the indices.
struct split_position {
  position slice, index;
  split_position(const position& p, std::size_t axis, std::size_t index_rank)
      : slice(p.begin(), p.begin() + static_cast<std::ptrdiff_t>(axis)),
        index(p.begin() + static_cast<std::ptrdiff_t>(axis),
              p.begin() + static_cast<std::ptrdiff_t>(axis + index_rank)) {
    slice.push_back(0);
    slice.insert(slice.end(), p.begin() + static_cast<std::ptrdiff_t>(axis + index_rank), p.end());
  }
};

TEST_CASE("reads and writes at indices") {
  struct lookup {
    shape table, indices;
    ir::attribute axis;
  };
  const std::vector<lookup> lookups = {{{13}, {7}, 0},        {{13}, {}, 0},           {{7, 17}, {5}, 0},
                                       {{7, 17}, {5}, 1},     {{7, 1}, {2, 3}, 0},     {{5, 4, 3}, {2, 3}, 1},
                                       {{5, 4, 3}, {7}, 2},   {{1, 13}, {9}, 0},       {{7, 3}, {0}, 0},
                                       {{7, 0}, {3}, 0},      {{0, 4}, {0}, 0},        {{2, 7}, {1, 1, 1}, 1},
                                       {{120, 65}, {700}, 0}, {{3, 100, 7}, {501}, 1}, {{2, 3}, {1000}, 0}};
  std::vector<problem> reads, writes;
  for (const lookup& l : lookups) {
    const auto n = static_cast<double>(l.table[static_cast<int>(l.axis)]);
    const bool small = l.table.elements() * (1 + l.indices.elements()) <= 1000;
    reads.push_back({{{l.table, -9, 9}, {l.indices, 0, n}}, {l.axis}, small});
    shape values = l.table.sub(0, static_cast<int>(l.axis));
    for (const extent e : l.indices.span()) values.push_back(e);
    for (int i = static_cast<int>(l.axis) + 1; i < l.table.rank; ++i) values.push_back(l.table[i]);
    writes.push_back({{{values, -1, 1}, {l.indices, 0, n}, {l.table}}, {l.axis}, small});
  }
  check<op::gather>(reads, [](const std::vector<array>& in, const attribute_values& a, const tensor_spec& out) {
    array y(out.dims);
    extent n = 0;
    for_each_position(out.dims, [&](const position& p) {
      split_position s(p, static_cast<std::size_t>(a[0]), static_cast<std::size_t>(in[1].dims.rank));
      s.slice[static_cast<std::size_t>(a[0])] = static_cast<extent>(in[1][place(in[1].dims, s.index)]);
      y[n++] = in[0][place(in[0].dims, s.slice)];
    });
    return y;
  });
  // Many slices for one index: sums that are formed in 16 bits would stop growing.
  check<op::scatter_rows>(
      writes,
      [](const std::vector<array>& in, const attribute_values& a, const tensor_spec& out) {
        array y(out.dims);
        extent n = 0;
        for_each_position(in[0].dims, [&](const position& p) {
          split_position s(p, static_cast<std::size_t>(a[0]), static_cast<std::size_t>(in[1].dims.rank));
          s.slice[static_cast<std::size_t>(a[0])] = static_cast<extent>(in[1][place(in[1].dims, s.index)]);
          y[place(out.dims, s.slice)] += in[0][n++];
        });
        return y;
      },
      {.slack = 4});
}

TEST_CASE("one where an index points") {
  std::vector<problem> all;
  for (const shape& s : {shape{13}, shape{}, shape{7, 3}, shape{0}, shape{1, 17, 1}})
    for (const extent depth : {1, 7, 13}) {
      problem p{{{s, -2, 15}}, {depth, 0}};  // an index outside gives zeros
      p.type_attribute = 1;
      all.push_back(p);
    }
  check<op::one_hot>(all, [](const std::vector<array>& in, const attribute_values& a, const tensor_spec& out) {
    array y(out.dims);
    for (extent i = 0; i < in[0].dims.elements(); ++i)
      if (in[0][i] >= 0 && in[0][i] < static_cast<double>(a[0])) y[i * a[0] + static_cast<extent>(in[0][i])] = 1;
    return y;
  });
}

TEST_CASE("other shapes of the same elements") {
  const auto same = [](const std::vector<array>& in, const attribute_values&, const tensor_spec& out) {
    return array(out.dims, in[0].at);
  };
  std::vector<problem> all;
  for (const shape& s : {shape{13}, shape{}, shape{7, 17}, shape{0, 3}, shape{2, 1, 3}}) all.push_back({{{s, -9, 9}}});
  check<op::identity>(all, same);
  check<op::stop_gradient>(all, same);
  check<op::reshape>({{{{{7, 6}}}, {42}}, {{{{7, 6}}}, {3, tagma::dyn}}, {{{{}}}, {1, 1}}, {{{{0, 3}}}, {3, 0}}}, same);
  check<op::expand_dims>({{{{{7, 6}}}, {0b010}}, {{{{}}}, {0b11}}, {{{{5}}}, {0b1011}}, {{{{0}}}, {1}}}, same);
  check<op::squeeze>({{{{{7, 1, 6}}}, {0b010}}, {{{{1, 1}}}, {0b11}}, {{{{1, 0}}}, {1}}}, same);
}

TEST_CASE("parts along an axis") {
  std::vector<problem> all;
  for (const shape& s : {shape{12}, shape{24, 5}, shape{3, 24}, shape{2, 24, 3}, shape{0, 6}, shape{6, 0}, shape{0}})
    for (int axis = 0; axis < s.rank; ++axis)
      for (const extent parts : {2, 3, 4, 8})
        if (s[axis] % parts == 0) all.push_back({{{s}}, {axis, parts}, parts != 4 && s.elements() <= 130});
  all.push_back({{{{12}}}, {0, 2, 5, 7}, true});
  all.push_back({{{{24, 5}}}, {0, 3, 1, 20, 3}, true});
  all.push_back({{{{3, 24}}}, {1, 2, 24, 0}});
  all.push_back({{{{2, 24, 3}}}, {1, 8, 1, 2, 3, 4, 5, 6, 2, 1}});
  check_several<op::split>(all,
                           [](const std::vector<array>& in, const std::vector<ir::attribute>& attributes,
                              const std::vector<tensor_spec>& out) {
                             std::vector<array> parts;
                             const auto axis = static_cast<std::size_t>(attributes[0]);
                             extent first = 0;
                             for (const tensor_spec& s : out) {
                               array part(s.dims);
                               extent n = 0;
                               for_each_position(s.dims, [&](const position& p) {
                                 position from = p;
                                 from[axis] += first;
                                 part[n++] = in[0][place(in[0].dims, from)];
                               });
                               first += s.dims[static_cast<int>(axis)];
                               parts.push_back(part);
                             }
                             return parts;
                           },
                           {.known_axes = 3});
}

}  // namespace
