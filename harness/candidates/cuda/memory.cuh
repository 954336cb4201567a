// Elements in memory are of the task's type, KB_REAL, or floats where kernels hand each other what
// they keep for themselves. In registers all are floats.
#pragma once

template <class T>
struct Stored {  // KB_REAL of 16 bits; vectors move as the bits they are
  using Bits = unsigned short;
  using Bits4 = uint2;
  static float widen(Bits v) { return KB_TO_FLOAT(reinterpret_cast<const KB_REAL&>(v)); }
  static float4 widen(Bits4 v) { return KB_TO_FLOAT4(reinterpret_cast<const KB_REAL4&>(v)); }
  static Bits narrow(float v) {
    const KB_REAL x = KB_FROM_FLOAT(v);
    return reinterpret_cast<const Bits&>(x);
  }
  static Bits4 narrow(float4 v) {
    const KB_REAL4 x = KB_FROM_FLOAT4(v);
    return reinterpret_cast<const Bits4&>(x);
  }
};
template <>
struct Stored<float> {
  using Bits = float;
  using Bits4 = float4;
  static float widen(float v) { return v; }
  static float4 widen(float4 v) { return v; }
  static float narrow(float v) { return v; }
  static float4 narrow(float4 v) { return v; }
};

template <class T>
float load(const T* at) {
  return Stored<T>::widen(*reinterpret_cast<const typename Stored<T>::Bits*>(at));
}
// Four neighbours, the first at a multiple of four.
template <class T>
float4 load4(const T* at) {
  return Stored<T>::widen(*reinterpret_cast<const typename Stored<T>::Bits4*>(at));
}
template <class T>
void store(T* at, float v) {
  *reinterpret_cast<typename Stored<T>::Bits*>(at) = Stored<T>::narrow(v);
}
template <class T>
void store4(T* at, float4 v) {
  *reinterpret_cast<typename Stored<T>::Bits4*>(at) = Stored<T>::narrow(v);
}

// The same for what is not used again soon: it may leave the cache first.
template <class T>
float stream_load(const T* at) {
  return Stored<T>::widen(__ldcs(reinterpret_cast<const typename Stored<T>::Bits*>(at)));
}
template <class T>
float4 stream_load4(const T* at) {
  return Stored<T>::widen(__ldcs(reinterpret_cast<const typename Stored<T>::Bits4*>(at)));
}
template <class T>
void stream_store(T* at, float v) {
  __stcs(reinterpret_cast<typename Stored<T>::Bits*>(at), Stored<T>::narrow(v));
}
template <class T>
void stream_store4(T* at, float4 v) {
  __stcs(reinterpret_cast<typename Stored<T>::Bits4*>(at), Stored<T>::narrow(v));
}
