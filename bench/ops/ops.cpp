// SPDX-License-Identifier: BSL-1.0
// Single operations, each a program of its own over extents that are known late. ops.py drives it: for each line
// "time <operation> <extents> <extents> ... <calls>" it prints the seconds of that many calls, by the clock and of the
// processor; for "keep <operation> <extents> ... <file>" it writes the elements of the result to a file.
#include <ctime>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tagma/order.hpp"
#include "tagma/tagma.hpp"

namespace tg = tagma;

namespace {

/// A tensor of numbers that follow from their positions, as `numbers` of ops.py makes it.
template <class T>
tg::tensor<T> numbers(const tg::shape& dims, std::int64_t operand, std::int64_t limit) {
  tg::tensor<T> t(dims);
  std::int64_t i = 0;
  for (T& v : t.span()) {
    const std::int64_t n = ((i++ + operand * 104729) * 2654435761 >> 9) % 1000003;  // in no order
    if constexpr (std::is_integral_v<T>)
      v = static_cast<T>(limit > 0 ? i * 7919 % limit : n * 4099 - 2000000000);
    else
      v = static_cast<T>(static_cast<double>(n) / 500001.5 - 1.0);
  }
  return t;
}

struct operation {
  std::function<void(const std::vector<tg::shape>&)> feed;
  std::function<void()> run;
  std::function<void(std::ostream&)> keep;
};
std::map<std::string, operation> operations;
int threads = 1;

template <class P>
using element = typename P::spec_type::element_type;

/// @param y what is computed
/// @param x the placeholders that it reads
template <class Y, class... X>
void add(const std::string& name, const Y& y, const X&... x) {
  static constexpr auto place = tg::placeholder<"place", std::int32_t, 1>();
  // One element is fetched, so that the result stays where it is, as between two operations of a larger program.
  const auto one = tg::gather<0>(tg::reshape<tg::dyn>(y), place);
  const auto program = tg::compile([=] { return tg::outputs(y, one); });
  using session_type = tg::session<std::remove_const_t<decltype(program)>>;
  auto session = std::make_shared<session_type>(program, tg::session_options{.intra_op_threads = threads});
  auto fed = std::make_shared<std::tuple<tg::tensor<element<X>>...>>();
  auto first = std::make_shared<tg::tensor<std::int32_t>>(tg::shape{1});
  operations[name] = {
      [fed](const std::vector<tg::shape>& dims) {
        std::apply(
            [&](auto&... t) {
              std::size_t i = 0;
              ((t = numbers<element<X>>(dims.at(i), static_cast<std::int64_t>(i), i > 0 ? dims.at(0)[0] : 0), ++i),
               ...);
            },
            *fed);
      },
      [=] { std::apply([&](auto&... t) { static_cast<void>(session->run(one, place = *first, (x = t)...)); }, *fed); },
      [=](std::ostream& out) {
        const auto all = std::apply([&](auto&... t) { return session->run(y, (x = t)...); }, *fed);
        out.write(reinterpret_cast<const char*>(all.data()),
                  static_cast<std::streamsize>(all.dims().elements() * static_cast<tg::extent>(sizeof(*all.data()))));
      }};
}

constexpr tg::extent any = tg::dyn;
constexpr auto v = tg::placeholder<"v", float, any>();
constexpr auto a = tg::placeholder<"a", float, any, any>();
constexpr auto b = tg::placeholder<"b", float, any, any>();
constexpr auto da = tg::placeholder<"da", double, any, any>();
constexpr auto db = tg::placeholder<"db", double, any, any>();
constexpr auto whole = tg::placeholder<"whole", std::int32_t, any, any>();
constexpr auto t3 = tg::placeholder<"t3", float, any, any, any>();
constexpr auto t4 = tg::placeholder<"t4", float, any, any, any, any>();
constexpr auto indices = tg::placeholder<"indices", std::int64_t, any>();
constexpr auto wide = tg::placeholder<"wide", float, any, 768>();
constexpr auto one_scale = tg::placeholder<"scale", float, 768>();
constexpr auto one_shift = tg::placeholder<"shift", float, 768>();
constexpr auto channels = tg::placeholder<"channels", float, any, 256>();
constexpr auto channel_scale = tg::placeholder<"channel_scale", float, 256>();
constexpr auto channel_shift = tg::placeholder<"channel_shift", float, 256>();

/// A line here and one in ops.py for each operation.
void add_all() {
  add("matmul", tg::matmul(a, b), a, b);
  add("matmul_nt", tg::matmul<false, true>(a, b), a, b);
  add("matmul_tn", tg::matmul<true, false>(a, b), a, b);
  add("matmul_double", tg::matmul(da, db), da, db);
  add("matmul_double_nt", tg::matmul<false, true>(da, db), da, db);
  add("matmul_double_tn", tg::matmul<true, false>(da, db), da, db);
  add("transpose", tg::transpose(a), a);
  add("heads", tg::transpose<0, 2, 1, 3>(t4), t4);
  add("swap_first", tg::transpose<1, 0, 2>(t3), t3);
  add("argmax", tg::argmax(a), a);
  add("argmax_0", tg::argmax<0>(a), a);
  add("gather_1", tg::gather<1>(a, indices), a, indices);
  add("gather_0", tg::gather<0>(a, indices), a, indices);
  add("softmax", tg::softmax(a), a);
  add("log_softmax", tg::log_softmax(a), a);
  add("layer_norm", tg::layer_norm(wide, one_scale, one_shift, 1e-5), wide, one_scale, one_shift);
  add("layer_norm_gradient", tg::gradient(tg::sum(tg::square(tg::layer_norm(wide, one_scale, one_shift, 1e-5))), wide),
      wide, one_scale, one_shift);
  const auto normalized = tg::batch_norm(channels, channel_scale, channel_shift, 1e-5).output;
  add("batch_norm", normalized, channels, channel_scale, channel_shift);
  add("batch_norm_gradient", tg::gradient(tg::sum(tg::square(normalized)), channels), channels, channel_scale,
      channel_shift);
  add("sum_0", tg::sum<0>(a), a);
  add("mean_0", tg::mean<0>(a), a);
  add("sum_middle", tg::sum<1>(t3), t3);
  add("max_middle", tg::reduce_max<1>(t3), t3);
  add("max_0", tg::reduce_max<0>(a), a);
  add("sum_1", tg::sum<1>(a), a);
  add("max_1", tg::reduce_max<1>(a), a);
  add("sort", tg::sort(a), a);
  add("sort_int32", tg::sort(whole), whole);
  add("argsort", tg::argsort(a), a);
  add("cumsum_1", tg::cumsum<1>(a), a);
  add("cumsum_0", tg::cumsum<0>(a), a);
  add("tanh", tg::tanh(a), a);
  add("gelu", tg::gelu(a), a);
  add("sin", tg::sin(a), a);
  add("erf", tg::erf(a), a);
}

tg::shape read_shape(const std::string& text) {
  tg::shape dims;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, 'x');) dims.push_back(std::stoll(part));
  return dims;
}

double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace

int main(int count, char** arguments) {
  if (count > 1) threads = std::atoi(arguments[1]);
  add_all();
  std::cout << "ready" << std::endl;
  std::string fed;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    if (words.size() < 4) continue;
    const auto found = operations.find(words[1]);
    if (found == operations.end()) {
      std::cout << "unknown" << std::endl;
      continue;
    }
    std::vector<tg::shape> dims;
    std::string now = words[1];
    for (std::size_t i = 2; i + 1 < words.size(); ++i) dims.push_back(read_shape(words[i])), now += " " + words[i];
    const operation& o = found->second;
    if (now != fed) o.feed(dims), o.run(), fed = now;
    if (words[0] == "keep") {
      std::ofstream file(words.back(), std::ios::binary);
      o.keep(file);
      file.close();
      std::cout << "kept" << std::endl;
      continue;
    }
    const int calls = std::stoi(words.back());
    const double processor = processor_seconds();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) o.run();
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%.9f %.9f\n", wall, processor_seconds() - processor);
    std::fflush(stdout);
  }
}
