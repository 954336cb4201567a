// Accessors: elements of a tensor by their indices.
#pragma once

#include "kbench_check.h"

namespace c10::kbench {

template <class T, size_t N, template <class> class Traits, class I>
class TensorAccessor {
 public:
  using Pointer = typename Traits<T>::PtrType;
  C10_HOST_DEVICE TensorAccessor(Pointer data, const I* sizes, const I* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}
  C10_HOST_DEVICE decltype(auto) operator[](I i) const {
    if constexpr (N == 1) {
      return static_cast<T&>(data_[strides_[0] * i]);
    } else {
      return TensorAccessor<T, N - 1, Traits, I>(data_ + strides_[0] * i, sizes_ + 1, strides_ + 1);
    }
  }
  C10_HOST_DEVICE I size(I i) const { return sizes_[i]; }
  C10_HOST_DEVICE I stride(I i) const { return strides_[i]; }
  C10_HOST_DEVICE Pointer data() const { return data_; }

 private:
  Pointer data_;
  const I *sizes_, *strides_;
};
template <class T, size_t N, template <class> class Traits, class I>
class GenericPackedTensorAccessor {
 public:
  using Pointer = typename Traits<T>::PtrType;
  GenericPackedTensorAccessor(Pointer data, const int64_t* sizes, const int64_t* strides)
      : data_(data) {
    for (size_t i = 0; i < N; ++i) {
      sizes_[i] = static_cast<I>(sizes[i]);
      strides_[i] = static_cast<I>(strides[i]);
    }
  }
  C10_HOST_DEVICE decltype(auto) operator[](I i) const {
    return TensorAccessor<T, N, Traits, I>(data_, sizes_, strides_)[i];
  }
  C10_HOST_DEVICE I size(I i) const { return sizes_[i]; }
  C10_HOST_DEVICE I stride(I i) const { return strides_[i]; }
  C10_HOST_DEVICE Pointer data() const { return data_; }

 private:
  Pointer data_;
  I sizes_[N], strides_[N];
};
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, Traits, int32_t>;
template <class T, size_t N, template <class> class Traits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, Traits, int64_t>;

template <class T, size_t N, template <class> class Traits, class I>
GenericPackedTensorAccessor<T, N, Traits, I> Tensor::generic_packed_accessor() const {
  TORCH_CHECK(dim() == N, "TensorAccessor expected ", N, " dims but tensor has ", dim());
  return {data_ptr<T>(), sizes().data(), strides().data()};
}
template <class T, size_t N>
TensorAccessor<T, N> Tensor::accessor() const {
  TORCH_CHECK(dim() == N, "TensorAccessor expected ", N, " dims but tensor has ", dim());
  return {data_ptr<T>(), sizes().data(), strides().data()};
}

}  // namespace c10::kbench
