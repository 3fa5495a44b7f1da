#include "executor/fusion/accumulate_sums.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "executor/fusion/delayed.h"
#include "executor/kernel/running_sum.h"
#include "executor/plan/users.h"
#include "graph/ir/graph.h"

namespace sluice {
namespace {

// A term of a sum, and the items between it and the sum.
struct Term {
  DraftInput value;
  std::vector<int> passes;
};

bool CanBeTerm(const DraftItem& term, const DraftItem& sum) {
  if (term.kind != OpKind::kKernel || term.output_types.size() != 1) return false;
  const auto* kernel = dynamic_cast<const AddingKernel*>(term.kernel);
  const PartialShape &shape = term.node->output_shape(0), &of_sum = sum.node->output_shape(0);
  return kernel != nullptr && kernel->CanAdd() && shape.IsFullyDefined() && shape == of_sum &&
         term.node->assigned_device() == sum.node->assigned_device();
}

std::optional<Term> TermOf(const DraftBody& body, const std::vector<Users>& users,
                           const DraftItem& sum, const DraftInput& input) {
  Term term{input, {}};
  while (true) {
    const DraftInput& at = term.value;
    if (at.base != ValueRef::kSlot || at.item < 0 || at.is_ref) return std::nullopt;
    if (users[at.item].reads != 1) return std::nullopt;
    const DraftItem& item = body.items[at.item];
    if (item.kind != OpKind::kPass) break;
    if (users[at.item].waits != 0 || item.inputs.size() != 1) return std::nullopt;
    term.passes.push_back(at.item);
    term.value = item.inputs[0];
  }
  if (!CanBeTerm(body.items[term.value.item], sum)) return std::nullopt;
  return term;
}

std::optional<std::vector<Term>> TermsOf(const DraftBody& body, const std::vector<Users>& users,
                                         const DraftItem& sum) {
  if (sum.kind != OpKind::kKernel || dynamic_cast<SumKernel*>(sum.kernel) == nullptr) {
    return std::nullopt;
  }
  std::vector<Term> terms;
  for (const DraftInput& input : sum.inputs) {
    std::optional<Term> term = TermOf(body, users, sum, input);
    if (!term.has_value()) return std::nullopt;
    terms.push_back(*std::move(term));
  }
  if (terms.size() < 2) return std::nullopt;
  // Items are in topological order.
  std::sort(terms.begin(), terms.end(),
            [](const Term& a, const Term& b) { return a.value.item < b.value.item; });
  return terms;
}

void RemovePass(DraftItem& pass, DraftItem& sum) {
  sum.controls.insert(sum.controls.end(), pass.controls.begin(), pass.controls.end());
  pass.is_fused_away = true;
  pass.inputs.clear();
  pass.controls.clear();
  pass.output_types.clear();
}

// A sum that computes its terms. After the sum's own inputs come the terms' operands.
class JoinedSum final : public Kernel {
 public:
  JoinedSum(SumKernel* sum, int terms, const AddingKernel* term)
      : sum_(sum), terms_(terms), term_(term) {}

  absl::Status Compute(KernelContext& context) override {
    // In an observed step, the terms were computed one by one and are the inputs.
    if (context.input(0).IsInitialized()) return sum_->SumOf(context, terms_);
    return term_->ComputeJoined(context, terms_);
  }

 private:
  SumKernel* const sum_;
  const int terms_;
  const AddingKernel* const term_;
};

const AddingKernel* KernelOf(const DraftBody& body, const Term& term) {
  return dynamic_cast<const AddingKernel*>(body.items[term.value.item].kernel);
}

bool CanJoin(const DraftBody& body, const std::vector<Term>& terms) {
  const DraftItem& first = body.items[terms[0].value.item];
  const AddingKernel& kernel = *KernelOf(body, terms[0]);
  const auto is_alike = [&](const Term& term) {
    const DraftItem& item = body.items[term.value.item];
    return DelayableMaker(item) != nullptr && kernel.CanJoin(*KernelOf(body, term)) &&
           item.node->input(0).shape() == first.node->input(0).shape() &&
           item.node->input(1).shape() == first.node->input(1).shape();
  };
  return std::all_of(terms.begin(), terms.end(), is_alike) && OperandsAreSmall(*first.node);
}

std::shared_ptr<Kernel> Join(DraftBody& body, const std::vector<Term>& terms, DraftItem& sum) {
  for (const Term& term : terms) {
    DraftItem& item = body.items[term.value.item];
    sum.inputs.insert(sum.inputs.end(), item.inputs.begin(), item.inputs.end());
    item.kind = OpKind::kDelayed;
  }
  return std::make_shared<JoinedSum>(dynamic_cast<SumKernel*>(sum.kernel),
                                     static_cast<int>(terms.size()), KernelOf(body, terms[0]));
}

// Adds each term to the terms before it.
void Chain(DraftBody& body, const std::vector<Term>& terms, DraftItem& sum) {
  for (size_t i = 0; i < terms.size(); ++i) {
    if (i > 0) body.items[terms[i].value.item].inputs.push_back(terms[i - 1].value);
    for (int pass : terms[i].passes) RemovePass(body.items[pass], sum);
  }
  std::sort(sum.controls.begin(), sum.controls.end());
  sum.controls.erase(std::unique(sum.controls.begin(), sum.controls.end()), sum.controls.end());
  sum.inputs = {terms.back().value};
  sum.kind = OpKind::kPass;
  sum.kernel = nullptr;
}

}  // namespace

int AccumulateSums(DraftBody& body, Draft& draft) {
  const std::vector<Users> users = CountUsers(body);
  int changed = 0;
  for (DraftItem& sum : body.items) {
    const std::optional<std::vector<Term>> terms = TermsOf(body, users, sum);
    if (!terms.has_value()) continue;
    if (CanJoin(body, *terms)) {
      draft.kernels.push_back(Join(body, *terms, sum));
      sum.kernel = draft.kernels.back().get();
    } else {
      Chain(body, *terms, sum);
    }
    ++changed;
  }
  return changed;
}

}  // namespace sluice
