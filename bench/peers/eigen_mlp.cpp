// SPDX-License-Identifier: BSL-1.0
// The same training steps written by hand with Eigen, all memory allocated once. One thread.
#include <Eigen/Core>
#include <cmath>

#include "protocol.hpp"

using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using row = Eigen::Matrix<float, 1, Eigen::Dynamic, Eigen::RowMajor>;

/// A parameter with its gradient and the moments of Adam.
template <class M>
struct parameter {
  M value, gradient, m, v;
  parameter(int rows, int columns, float limit)
      : value(M::Random(rows, columns) * limit),
        gradient(M::Zero(rows, columns)),
        m(M::Zero(rows, columns)),
        v(M::Zero(rows, columns)) {}
  void update(const peers::options& o, float rate) {
    if (!o.adam) {
      value -= rate * gradient;
      return;
    }
    m.array() += (gradient.array() - m.array()) * 0.1f;
    v.array() += (gradient.array().square() - v.array()) * 0.001f;
    value.array() -= rate * m.array() / (v.array().sqrt() + 1e-8f);
  }
};

struct layer {
  parameter<matrix> kernel;
  parameter<row> bias;
  matrix output, upstream;
  layer(int batch, int in, int out)
      : kernel(in, out, std::sqrt(6.0f / static_cast<float>(in + out))),
        bias(1, out, 0),
        output(batch, out),
        upstream(batch, out) {}
  template <class X>
  void forward(const X& x, bool relu) {
    output.noalias() = x * kernel.value;
    if (relu)
      output = (output.rowwise() + bias.value).cwiseMax(0.0f);
    else
      output.rowwise() += bias.value;
  }
  template <class X>
  void gradients(const X& x) {
    kernel.gradient.noalias() = x.transpose() * upstream;
    bias.gradient = upstream.colwise().sum();
  }
  void propagate(layer& below) const {
    below.upstream.noalias() = upstream * kernel.value.transpose();
    below.upstream.array() *= (below.output.array() > 0.0f).cast<float>();
  }
};

int main(int count, char** arguments) {
  const peers::options options(count, arguments);
  if (options.threads != 1) return std::fprintf(stderr, "the Eigen loop has one thread\n"), 2;
  const int batch = options.batch;
  layer first(batch, 784, 300), second(batch, 300, 100), third(batch, 100, 10);
  std::vector<peers::data> inputs;
  for (unsigned i = 0; i < peers::batches; ++i) inputs.push_back(peers::make_batch(batch, i));
  const std::string version = std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
                              std::to_string(EIGEN_MINOR_VERSION);
  return peers::serve(version.c_str(), [&](std::int64_t i) {
    const peers::data& d = inputs[static_cast<std::size_t>(i % peers::batches)];
    const Eigen::Map<const matrix> x(d.images.data(), batch, 784);
    first.forward(x, true);
    second.forward(first.output, true);
    third.forward(second.output, false);
    float loss = 0;
    const float scale = 1.0f / static_cast<float>(batch);
    for (int r = 0; r < batch; ++r) {
      const auto label = d.labels[static_cast<std::size_t>(r)];
      const auto logits = third.output.row(r).array();
      const float top = logits.maxCoeff();
      third.upstream.row(r) = (logits - top).exp();
      const float total = third.upstream.row(r).sum();
      loss += std::log(total) + top - logits(label);
      third.upstream.row(r) *= scale / total;
      third.upstream(r, label) -= scale;
    }
    third.gradients(second.output);
    third.propagate(second);
    second.gradients(first.output);
    second.propagate(first);
    first.gradients(x);
    const double t = static_cast<double>(i + 1);
    const double rate =
        options.adam ? peers::adam_rate * std::sqrt(1 - std::pow(0.999, t)) / (1 - std::pow(0.9, t)) : peers::sgd_rate;
    for (layer* l : {&first, &second, &third}) {
      l->kernel.update(options, static_cast<float>(rate));
      l->bias.update(options, static_cast<float>(rate));
    }
    return static_cast<double>(loss * scale);
  });
}
