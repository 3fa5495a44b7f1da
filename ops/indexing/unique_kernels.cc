#include <algorithm>
#include <cstring>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "executor/kernel/scratch.h"
#include "graph/ir/graph.h"
#include "ops/loops/elements.h"
#include "ops/loops/int_tensor.h"

namespace sluice {
namespace {

// Types that are not compared by their bits. A NaN equals no other number.
using ComparedList = JoinTypes<FloatList, TypeList<std::string>>::type;

// Calls `f`, which returns a status, with the type in which elements are compared.
template <typename F>
absl::Status WithComparedType(DataType dtype, const F& f) {
  absl::Status status;
  WithTypeOrBits(dtype, ComparedList(), [&](auto tag) { status = f(tag); });
  return status;
}

// Returns a value that can be hashed. Two values are equal if and only if their elements are equal.
template <typename T>
auto Key(const T& v) {
  if constexpr (kIsFloat16<T>) {
    return static_cast<float>(v);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return absl::string_view(v);
  } else {
    return v;
  }
}
template <typename T>
using KeyOf = decltype(Key(std::declval<T>()));

// Groups of equal values at n positions: the group of each position, numbered in order of
// appearance, and the first position of each group.
struct Groups {
  Groups(const KernelContext& c, int64_t n)
      : of(Scratch<int64_t>(c, n)), first(Scratch<int64_t>(c)) {}
  ScratchVector<int64_t> of;
  ScratchVector<int64_t> first;
};

template <typename K, typename Hash, typename Equal>
using ScratchMap =
    absl::flat_hash_map<K, int64_t, Hash, Equal, ScratchAllocator<std::pair<const K, int64_t>>>;

template <typename T>
Groups GroupElements(const KernelContext& c, const T* x, int64_t n) {
  Groups groups(c, n);
  using K = KeyOf<T>;
  using Plain = absl::flat_hash_map<K, int64_t>;
  ScratchMap<K, typename Plain::hasher, typename Plain::key_equal> seen(
      ScratchAllocator<std::pair<const K, int64_t>>{c});
  // Reserves fewer than n buckets, because batches often have few distinct values.
  seen.reserve(static_cast<size_t>(std::min<int64_t>(n, 1024)));
  for (int64_t i = 0; i < n; ++i) {
    const auto [it, is_new] =
        seen.try_emplace(Key(x[i]), static_cast<int64_t>(groups.first.size()));
    if (is_new) groups.first.push_back(i);
    groups.of[i] = it->second;
  }
  return groups;
}

// Groups equal slices x[:, i, :] of a tensor of shape [outer, n, inner].
template <typename T>
Groups GroupSlices(const KernelContext& c, const T* x, int64_t outer, int64_t n, int64_t inner) {
  auto hash = [&](int64_t i) {
    size_t h = 0;
    for (int64_t o = 0; o < outer; ++o) {
      const T* row = x + (o * n + i) * inner;
      for (int64_t k = 0; k < inner; ++k) h = absl::HashOf(h, Key(row[k]));
    }
    return h;
  };
  auto equal = [&](int64_t a, int64_t b) {
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t k = 0; k < inner; ++k) {
        if (!(Key(x[(o * n + a) * inner + k]) == Key(x[(o * n + b) * inner + k]))) return false;
      }
    }
    return true;
  };
  Groups groups(c, n);
  ScratchMap<int64_t, decltype(hash), decltype(equal)> seen(
      16, hash, equal, ScratchAllocator<std::pair<const int64_t, int64_t>>(c));
  for (int64_t i = 0; i < n; ++i) {
    const auto [it, is_new] = seen.try_emplace(i, static_cast<int64_t>(groups.first.size()));
    if (is_new) groups.first.push_back(i);
    groups.of[i] = it->second;
  }
  return groups;
}

absl::Status EmitGroups(KernelContext& c, const Groups& groups) {
  const int64_t n = static_cast<int64_t>(groups.of.size());
  SLUICE_ASSIGN_OR_RETURN(Tensor * idx, c.AllocateOutput(1, {n}));
  for (int64_t i = 0; i < n; ++i) SetIntAt(*idx, i, groups.of[i]);
  if (c.num_outputs() < 3) return absl::OkStatus();
  auto counts = Scratch<int64_t>(c, static_cast<int64_t>(groups.first.size()));
  for (int64_t g : groups.of) ++counts[g];
  SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(2, {static_cast<int64_t>(counts.size())}));
  for (size_t g = 0; g < counts.size(); ++g) SetIntAt(*out, static_cast<int64_t>(g), counts[g]);
  return absl::OkStatus();
}

// Outputs the distinct slices of a tensor without elements, whose slices are all equal.
absl::Status UniqueOfEmpty(KernelContext& c, int axis) {
  TensorShape shape = c.input(0).shape();
  const int64_t n = shape.dim(axis), groups = std::min<int64_t>(n, 1);
  shape.set_dim(axis, groups);
  SLUICE_RETURN_IF_ERROR(c.AllocateOutput(0, shape).status());
  SLUICE_ASSIGN_OR_RETURN(Tensor * idx, c.AllocateOutput(1, {n}));
  if (idx->bytes() > 0) std::memset(idx->raw(), 0, idx->bytes());
  if (c.num_outputs() < 3) return absl::OkStatus();
  SLUICE_ASSIGN_OR_RETURN(Tensor * count, c.AllocateOutput(2, {groups}));
  if (groups > 0) SetIntAt(*count, 0, n);
  return absl::OkStatus();
}

// Outputs the distinct slices along dimension `axis`.
absl::Status UniqueSlices(KernelContext& c, int axis) {
  const Tensor& x = c.input(0);
  if (x.num_elements() == 0) return UniqueOfEmpty(c, axis);
  int64_t outer = 1, inner = 1;
  for (int d = 0; d < axis; ++d) outer *= x.dim(d);
  for (int d = axis + 1; d < x.rank(); ++d) inner *= x.dim(d);
  const int64_t n = x.dim(axis);
  return WithComparedType(x.dtype(), [&](auto tag) -> absl::Status {
    using T = typename decltype(tag)::type;
    const T* from = static_cast<const T*>(x.raw());
    const Groups groups = outer == 1 && inner == 1 ? GroupElements(c, from, n)
                                                   : GroupSlices(c, from, outer, n, inner);
    const int64_t count = static_cast<int64_t>(groups.first.size());
    TensorShape shape = x.shape();
    shape.set_dim(axis, count);
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, shape));
    T* to = static_cast<T*>(out->raw());
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t g = 0; g < count; ++g) {
        to = std::copy_n(from + (o * n + groups.first[g]) * inner, inner, to);
      }
    }
    return EmitGroups(c, groups);
  });
}

absl::Status Unique(KernelContext& c) {
  SLUICE_INVALID_IF(c.input(0).rank() != 1, "unique expects a 1D vector.");
  return UniqueSlices(c, 0);
}

absl::Status UniqueV2(KernelContext& c) {
  const Tensor& x = c.input(0);
  const Tensor& axis = c.input(1);
  SLUICE_INVALID_IF(axis.rank() > 1, "axis expects a 1D vector.");
  SLUICE_INVALID_IF(axis.num_elements() > 1,
                    "axis does not support input tensors larger than 1 elements");
  if (axis.num_elements() == 0) return Unique(c);
  const int64_t given = IntAt(axis, 0);
  SLUICE_INVALID_IF(given < -x.rank() || given >= x.rank(), "axis has to be between [0, ", x.rank(),
                    ")");
  return UniqueSlices(c, static_cast<int>(given < 0 ? given + x.rank() : given));
}

absl::Status ListDiff(KernelContext& c) {
  for (int i = 0; i < 2; ++i) {
    if (c.input(i).rank() == 1) continue;
    return InvalidArgument(i == 0 ? "x" : "y", " should be a 1D vector.");
  }
  const Tensor& x = c.input(0);
  const Tensor& y = c.input(1);
  return WithComparedType(x.dtype(), [&](auto tag) -> absl::Status {
    using T = typename decltype(tag)::type;
    absl::flat_hash_set<KeyOf<T>> known;
    const T* excluded = static_cast<const T*>(y.raw());
    for (int64_t i = 0; i < y.num_elements(); ++i) known.insert(Key(excluded[i]));
    const T* from = static_cast<const T*>(x.raw());
    std::vector<int64_t> kept;
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      if (!known.contains(Key(from[i]))) kept.push_back(i);
    }
    const int64_t n = static_cast<int64_t>(kept.size());
    SLUICE_ASSIGN_OR_RETURN(Tensor * out, c.AllocateOutput(0, {n}));
    SLUICE_ASSIGN_OR_RETURN(Tensor * idx, c.AllocateOutput(1, {n}));
    for (int64_t i = 0; i < n; ++i) {
      static_cast<T*>(out->raw())[i] = from[kept[i]];
      SetIntAt(*idx, i, kept[i]);
    }
    return absl::OkStatus();
  });
}

constexpr TypeSet kListed = RealTypes() | TypeSet{DT_STRING};
constexpr TypeSet kTypes = kListed | TypeSet{DT_BOOL};
KERNEL(Unique, FunctionKernel<Unique>, {"T", kTypes});
KERNEL(UniqueWithCounts, FunctionKernel<Unique>, {"T", kTypes});
KERNEL(UniqueV2, FunctionKernel<UniqueV2>, {"T", kTypes});
KERNEL(UniqueWithCountsV2, FunctionKernel<UniqueV2>, {"T", kTypes});
KERNEL(ListDiff, FunctionKernel<ListDiff>, {"T", kListed});

}  // namespace
}  // namespace sluice
