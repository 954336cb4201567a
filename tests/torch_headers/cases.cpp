// What extensions do with PyTorch's C++ interface, each in a few lines: compiled with kbench's
// headers and with PyTorch's own, they give the same (tests/python/test_torch_headers.py).
#include <torch/extension.h>

#include <string>
#include <tuple>
#include <vector>

namespace elementwise {
torch::Tensor relu(torch::Tensor x) {
  auto y = torch::empty_like(x);
  const float* in = x.data_ptr<float>();
  float* out = y.data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); ++i) out[i] = in[i] > 0 ? in[i] : 0;
  return y;
}
torch::Tensor scaled(const torch::Tensor& x, double by, int64_t times, bool negate) {
  torch::Tensor y = x.clone();
  for (int64_t i = 0; i < times; ++i) y.mul_(by);
  return negate ? -y : y;
}
torch::Tensor dispatched(at::Tensor x) {
  TORCH_CHECK(x.is_contiguous(), "x must be contiguous, of ", x.sizes(), " with ", x.strides());
  auto y = at::zeros_like(x);
  AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "dispatched", ([&] {
                               const auto* in = x.data_ptr<scalar_t>();
                               auto* out = y.data_ptr<scalar_t>();
                               for (int64_t i = 0; i < x.numel(); ++i) {
                                 out[i] = in[i] * in[i] + static_cast<scalar_t>(1);
                               }
                             }));
  return y;
}
torch::Tensor sixteen(torch::Tensor x) {
  auto y = torch::empty(x.sizes(), x.options());
  AT_DISPATCH_FLOATING_TYPES_AND2(
      at::ScalarType::Half, at::ScalarType::BFloat16, x.scalar_type(), "sixteen", [&] {
        const scalar_t* in = x.data_ptr<scalar_t>();
        scalar_t* out = y.data_ptr<scalar_t>();
        const scalar_t low = std::numeric_limits<scalar_t>::lowest();
        for (int64_t i = 0; i < x.numel(); ++i) {
          scalar_t value = in[i] * in[i] - static_cast<scalar_t>(0.3f) / (in[i] + 2);
          value += static_cast<scalar_t>(1e-7);
          out[i] = value > low ? -value : low;
        }
      });
  return y;
}
torch::Tensor all_types(torch::Tensor x) {
  auto y = x.clone();
  AT_DISPATCH_ALL_TYPES(x.scalar_type(), "all_types", [&] {
    scalar_t* out = y.data_ptr<scalar_t>();
    for (int64_t i = 0; i < y.numel(); ++i) out[i] = static_cast<scalar_t>(out[i] + out[i]);
  });
  return y;
}
torch::Tensor switched(torch::Tensor x) {
  auto y = torch::zeros({1}, x.options().dtype(torch::kLong));
  AT_DISPATCH_SWITCH(x.scalar_type(), "switched", AT_DISPATCH_CASE_INTEGRAL_TYPES([&] {
                       y.fill_(int64_t{1});
                     }) AT_DISPATCH_CASE(at::ScalarType::Float, [&] { y.fill_(2); }));
  return y;
}
}  // namespace elementwise

namespace made {
torch::Tensor empty_filled(int64_t rows, int64_t columns) {
  auto x = torch::empty({rows, columns}, torch::kFloat32);
  x.fill_(1.5);
  return x;
}
torch::Tensor with_options(torch::Tensor x) {
  const auto options =
      torch::TensorOptions().dtype(torch::kFloat64).device(x.device()).requires_grad(false);
  return torch::ones({x.size(0), 2}, options) + torch::full({2}, 0.25, options);
}
std::vector<torch::Tensor> many(int64_t n) {
  return {torch::zeros(n),
          torch::ones({n}, torch::dtype(torch::kInt32)),
          torch::arange(n),
          torch::arange(0, n, 2, torch::kFloat),
          torch::arange(1.0, 2.0, 0.25),
          torch::eye(n),
          torch::linspace(0, 1, 5),
          torch::tensor({1.5f, 2.5f}),
          torch::tensor({1, 2, 3}),
          torch::tensor(3.25),
          torch::tensor(std::vector<int64_t>{4, 5}, torch::kInt),
          torch::full({2, 2}, 7, torch::kLong),
          torch::empty({0}, torch::kHalf)};
}
torch::Tensor random(int64_t n) { return torch::stack({torch::rand({n}), torch::randn({n})}); }
torch::Tensor like(torch::Tensor x) {
  return torch::cat({torch::ones_like(x), torch::full_like(x, 2.5), torch::zeros_like(x)}, 1);
}
torch::Tensor channels_last(torch::Tensor x) {
  auto y = torch::empty(x.sizes(), x.options(), at::MemoryFormat::ChannelsLast);
  y.copy_(x);
  return y.contiguous(at::MemoryFormat::ChannelsLast);
}
torch::Tensor from_memory() {
  static float values[6] = {1, 2, 3, 4, 5, 6};
  return torch::from_blob(values, {2, 3}, torch::kFloat).clone();
}
}  // namespace made

namespace arithmetic {
torch::Tensor with_tensors(torch::Tensor a, torch::Tensor b) { return (a + b) * (a - b) / (b + 3); }
torch::Tensor with_numbers(torch::Tensor a) { return 2 * a + 1.5 - (1 - a) / 4 + 1 / (a * a + 1); }
torch::Tensor in_place(torch::Tensor a) {
  auto y = a.clone();
  y += 1;
  y *= a;
  y -= 0.5;
  y /= 2.0;
  y.add_(a, 0.5);
  return y;
}
torch::Tensor compared(torch::Tensor a, torch::Tensor b) {
  return torch::where(a > b, a, b).to(torch::kFloat) + (a == 0).to(torch::kFloat) +
         (a <= 0.5).to(at::kFloat);
}
torch::Tensor functions(torch::Tensor x) {
  return torch::exp(-x.abs()) + x.sigmoid().sqrt() + at::tanh(x) + torch::relu(x).pow(2) +
         torch::clamp(x, -0.5, 0.5) + x.clamp_min(0) + torch::log(x * x + 1) + torch::gelu(x) +
         torch::leaky_relu(x, 0.1) + torch::hardtanh(x, -1, 1) + torch::softplus(x) + x.erf();
}
torch::Tensor division(torch::Tensor a) { return torch::div(a, 3, "floor") + a.remainder(2); }
}  // namespace arithmetic

namespace reduced {
std::vector<torch::Tensor> all(torch::Tensor x) {
  return {x.sum(),
          x.mean(),
          x.sum(1),
          x.mean(at::IntArrayRef({0, 1}), true),
          x.sum({-1}, false, torch::kFloat64),
          torch::sum(x, {0}),
          x.max(),
          x.min(),
          x.amax({1}, true),
          x.argmax(1),
          x.std(1),
          x.var({1}, false),
          x.norm(),
          torch::norm(x, 2, {1}, true),
          x.prod(0),
          x.cumsum(1),
          torch::softmax(x, 1),
          torch::log_softmax(x, -1),
          torch::logsumexp(x, 1),
          (x > 0).any(),
          (x > 0).all()};
}
std::tuple<torch::Tensor, torch::Tensor> largest(torch::Tensor x, int64_t dim) {
  auto found = torch::max(x, dim, /*keepdim=*/true);
  return {std::get<0>(found), std::get<1>(found)};
}
torch::Tensor least(torch::Tensor x) { return std::get<0>(x.min(0)) + torch::min(x, x * 2); }
std::tuple<at::Tensor, at::Tensor> top(at::Tensor x, int64_t k) { return x.topk(k, 1); }
torch::Tensor sorted(torch::Tensor x) { return std::get<0>(x.sort(1, true)); }
double item(torch::Tensor x) { return x.sum().item<double>() + x.min().item().toFloat(); }
int64_t integer(torch::Tensor x) { return (x > 0).sum().item<int64_t>(); }
}  // namespace reduced

namespace shaped {
std::vector<torch::Tensor> views(torch::Tensor x) {
  return {x.view({-1}),
          x.reshape({x.size(1), x.size(0)}),
          x.t(),
          x.transpose(0, 1).contiguous(),
          x.permute({1, 0}),
          x.unsqueeze(0).expand({2, x.size(0), x.size(1)}),
          x.unsqueeze(-1).squeeze(-1),
          x.repeat({2, 1}),
          x.flatten(),
          torch::flatten(x.unsqueeze(0), 1),
          x.slice(1, 0, 2),
          x.slice(0, 1),
          x.select(0, 1),
          x[0],
          x.narrow(1, 1, 2),
          torch::flip(x, {1}),
          x.index_select(1, torch::tensor({0, 2})),
          x.tril(),
          torch::roll(x, 1, 0),
          x.masked_fill(x > 0, 0.0),
          x.view_as(x),
          x.to(torch::kInt),
          x.to(x.options().dtype(torch::kHalf)),
          x.detach()};
}
torch::Tensor parts(torch::Tensor x) {
  auto all = x.chunk(2, 0);
  auto halves = torch::split(x, 1, 0);
  return torch::cat({all[1], all[0], halves.at(0)}, 0);
}
std::vector<int64_t> numbers(torch::Tensor x) {
  std::vector<int64_t> all(x.sizes().begin(), x.sizes().end());
  for (int64_t each : x.strides()) all.push_back(each);
  all.insert(all.end(),
             {x.dim(), x.ndimension(), x.numel(), x.size(-1), x.stride(0), x.storage_offset(),
              x.element_size(), static_cast<int64_t>(x.nbytes()), x.is_contiguous(), x.defined(),
              x.is_cuda(), x.device().is_cpu(), x.requires_grad(), x.scalar_type() == torch::kFloat,
              x.dtype() == torch::kFloat32, x.is_floating_point()});
  return all;
}
torch::Tensor accessed(torch::Tensor x) {
  auto y = torch::zeros({x.size(1), x.size(0)}, x.options());
  auto from = x.accessor<float, 2>();
  auto to = y.packed_accessor32<float, 2>();
  for (int i = 0; i < from.size(0); ++i) {
    for (int j = 0; j < from.size(1); ++j) to[j][i] = from[i][j] + from.stride(0);
  }
  return y;
}
torch::Tensor row_written(torch::Tensor x) {
  auto y = x.clone();
  y[0] = x[1];
  y.select(0, 1).fill_(3);
  y.slice(1, 0, 1).zero_();
  return y;
}
}  // namespace shaped

namespace layers {
torch::Tensor convolved(torch::Tensor x, torch::Tensor w, c10::optional<torch::Tensor> bias) {
  return torch::conv2d(x, w, bias.has_value() ? *bias : torch::Tensor(), {1, 1}, {1, 1});
}
torch::Tensor strided(torch::Tensor x, torch::Tensor w) {
  return at::conv2d(x, w, {}, 2, 1, 1, 1) + at::conv2d(x, w, {}, {2, 2}, {1, 1}, {1, 1}, 1);
}
torch::Tensor transposed(torch::Tensor x, torch::Tensor w) {
  return torch::conv_transpose2d(x, w, {}, 2, 1, 1);
}
torch::Tensor linear(torch::Tensor x, torch::Tensor w, torch::Tensor b) {
  return torch::linear(x, w, b) + torch::addmm(b, x, w.t()) + x.matmul(w.t()) + torch::mm(x, w.t());
}
torch::Tensor batches(torch::Tensor a, torch::Tensor b) { return torch::bmm(a, b) + a.bmm(b); }
torch::Tensor normed(torch::Tensor x, torch::Tensor w, torch::Tensor b) {
  return torch::layer_norm(x, {x.size(-1)}, w, b, 1e-5);
}
torch::Tensor batch_normed(torch::Tensor x, torch::Tensor w, torch::Tensor b) {
  return torch::batch_norm(x, w, b, torch::zeros_like(w), torch::ones_like(w), false, 0.1, 1e-5,
                           false) +
         torch::group_norm(x, 2, w, b, 1e-5);
}
torch::Tensor pooled(torch::Tensor x) {
  return torch::max_pool2d(x, 2) + torch::avg_pool2d(x, {2, 2}, {2, 2}) +
         torch::adaptive_avg_pool2d(x, {2, 2});
}
torch::Tensor written_to(torch::Tensor a, torch::Tensor b) {
  auto out = torch::empty({a.size(0), b.size(1)}, a.options());
  torch::mm_out(out, a, b);
  return out;
}
torch::Tensor padded(torch::Tensor x) { return torch::constant_pad_nd(x, {1, 2}, 0.5); }
}  // namespace layers

namespace bound {
std::string text(const std::string& name, int count, float share) {
  return name + ":" + std::to_string(count) + ":" + std::to_string(share);
}
torch::Tensor maybe(c10::optional<torch::Tensor> x, c10::optional<double> by) {
  return x.has_value() ? x.value() * by.value_or(2) : torch::Tensor();
}
void nothing(torch::Tensor x) { x.add_(1); }
std::tuple<torch::Tensor, int64_t, bool, std::string> several(torch::Tensor x) {
  return std::make_tuple(x + 1, x.numel(), x.is_contiguous(), std::string("ä"));
}
torch::Tensor of_list(std::vector<torch::Tensor> all, std::vector<int64_t> order,
                      std::vector<double> weights) {
  auto sum = torch::zeros_like(all.at(0));
  for (size_t i = 0; i < order.size(); ++i) {
    sum += all.at(static_cast<size_t>(order[i])) * weights.at(i);
  }
  return sum;
}
int64_t overloaded(int64_t x) { return x; }
double overloaded(double x) { return x + 0.5; }
unsigned small(uint8_t x) { return x; }
torch::Tensor typed(torch::Tensor x, bool flag = true) { return flag ? x : -x; }
torch::Tensor without_gradient(torch::Tensor x) {
  torch::NoGradGuard guard;
  return x * 2;
}
}  // namespace bound

namespace failing {
torch::Tensor checked(torch::Tensor x) {
  TORCH_CHECK(x.dim() == 2, "x has ", x.dim(), " dimensions, of type ", x.scalar_type(), " on ",
              x.device(), ", ", 1.5, ' ', true, " ", x.dtype() == torch::kFloat);
  TORCH_CHECK(x.size(0) > 0);
  return x;
}
void of_type(torch::Tensor x) { x.data_ptr<double>(); }
void of_shape(torch::Tensor x) { x.view({7, 7}); }
void of_dimension(torch::Tensor x) { x.size(9); }
void of_operator(torch::Tensor x) { torch::mm(x, x); }
void of_index(torch::Tensor x) { TORCH_CHECK_INDEX(x.dim() > 7, "no such index"); }
void of_value(torch::Tensor x) { TORCH_CHECK_VALUE(x.dim() > 7, "no such value"); }
void by_runtime() { throw std::runtime_error("of my own"); }
void by_range() { std::vector<int>().at(3); }
void by_argument() { throw std::invalid_argument("an argument"); }
void by_other() { AT_ERROR("an error of ", 2, " parts"); }
torch::Tensor caught(torch::Tensor x) {
  try {
    return torch::mm(x, x);
  } catch (const c10::Error& error) {
    return torch::tensor(std::string(error.what()).empty() ? 0 : 1);
  }
}
}  // namespace failing

#define BIND(SPACE, NAME) m.def(#NAME, &SPACE::NAME, #NAME " of " #SPACE)
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  BIND(elementwise, relu);
  BIND(elementwise, scaled);
  BIND(elementwise, dispatched);
  BIND(elementwise, sixteen);
  BIND(elementwise, all_types);
  BIND(elementwise, switched);
  BIND(made, empty_filled);
  BIND(made, with_options);
  BIND(made, many);
  BIND(made, like);
  BIND(made, channels_last);
  BIND(made, from_memory);
  BIND(arithmetic, with_tensors);
  BIND(arithmetic, with_numbers);
  BIND(arithmetic, in_place);
  BIND(arithmetic, compared);
  BIND(arithmetic, functions);
  BIND(arithmetic, division);
  BIND(reduced, all);
  BIND(reduced, largest);
  BIND(reduced, least);
  BIND(reduced, top);
  BIND(reduced, sorted);
  BIND(reduced, item);
  BIND(reduced, integer);
  BIND(shaped, views);
  BIND(shaped, parts);
  BIND(shaped, numbers);
  BIND(shaped, accessed);
  BIND(shaped, row_written);
  BIND(layers, convolved);
  BIND(layers, strided);
  BIND(layers, transposed);
  BIND(layers, linear);
  BIND(layers, batches);
  BIND(layers, normed);
  BIND(layers, batch_normed);
  BIND(layers, pooled);
  BIND(layers, written_to);
  BIND(layers, padded);
  BIND(bound, nothing);
  BIND(bound, several);
  BIND(bound, of_list);
  BIND(bound, small);
  BIND(bound, without_gradient);
  BIND(failing, checked);
  BIND(failing, of_type);
  BIND(failing, of_shape);
  BIND(failing, of_dimension);
  BIND(failing, of_operator);
  BIND(failing, of_index);
  BIND(failing, of_value);
  BIND(failing, by_runtime);
  BIND(failing, by_range);
  BIND(failing, by_argument);
  BIND(failing, by_other);
  BIND(failing, caught);
  m.def("random", torch::wrap_pybind_function(made::random), "random");
  m.def("wrapped", torch::wrap_pybind_function(failing::checked), "wrapped");
  m.def("wrapped_argument", torch::wrap_pybind_function(failing::by_argument), "wrapped");
  m.def("text", &bound::text, py::arg("name"), py::arg("count") = 3, py::arg("share") = 0.5);
  m.def("maybe", &bound::maybe, py::arg("x") = py::none(), py::arg("by") = py::none());
  m.def("overloaded", static_cast<int64_t (*)(int64_t)>(&bound::overloaded));
  m.def("overloaded", static_cast<double (*)(double)>(&bound::overloaded));
  m.def("typed", &bound::typed, "typed", py::arg("x"), py::arg("flag") = true);
  m.def("lambda", [](torch::Tensor x, int n) { return x + n; });
}
