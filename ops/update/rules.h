// The update rules of all optimizers. update_rule.h says what is made from a rule and how to add
// one. Names and their order are TensorFlow's.
//
// Formulas: grad² and similar terms apply to each element. What follows "With `flag`:" happens only
// if the rule's flag is true.
#ifndef SLUICE_OPS_UPDATE_RULES_H_
#define SLUICE_OPS_UPDATE_RULES_H_

#include "ops/update/update_rule.h"

namespace sluice {

// The step is the gradient itself.
inline constexpr UpdateRule kGradientDescent = {
    .name = "GradientDescent",
    .doc = "var -= alpha * delta.",
    .inputs = {"alpha", "delta"},
    .has_sparse = false,
};

// Gradient descent, then the proximal step of an L1 and L2 penalty (Duchi, Singer 2009).
inline constexpr UpdateRule kProximalGradientDescent = {
    .name = "ProximalGradientDescent",
    .doc = "p = var - alpha * delta; var = sign(p) * max(|p| - alpha * l1, 0) / (1 + alpha * l2).",
    .inputs = {{"alpha", {}, {.message = "lr is not a scalar: "}}, "l1", "l2", "delta"},
};

// The step follows a running sum of gradients.
inline constexpr UpdateRule kMomentum = {
    .name = "Momentum",
    .doc =
        "accum = momentum * accum + grad; var -= lr * accum. With `use_nesterov`: var -= lr * "
        "(grad + momentum * accum).",
    .slots = {"accum"},
    .inputs = {{"lr", {}, {.message = "lr is not a scalar : "}}, "grad", "momentum"},
    .flag = "use_nesterov",
};

inline constexpr UpdateRule kKerasMomentum = {
    .name = "KerasMomentum",
    .doc =
        "accum = momentum * accum - lr * grad; var += accum. With `use_nesterov`: var += "
        "momentum * accum - lr * grad.",
    .slots = {"accum"},
    .inputs = {{"lr", {}, {.message = "lr is not a scalar : "}}, "grad", "momentum"},
    .flag = "use_nesterov",
    .has_ref = false,
};

// The step is divided by the root of the sum of squared gradients (Duchi, Hazan, Singer 2011).
inline constexpr UpdateRule kAdagrad = {
    .name = "Adagrad",
    .doc = "With `update_slots`: accum += grad². Then var -= lr * grad / sqrt(accum).",
    .slots = {"accum"},
    .inputs = {"lr", "grad"},
    .flag = "update_slots",
    .flag_default = true,
};

inline constexpr UpdateRule kAdagradV2 = {
    .name = "AdagradV2",
    .doc = "With `update_slots`: accum += grad². Then var -= lr * grad / (sqrt(accum) + epsilon).",
    .slots = {"accum"},
    .inputs = {"lr", "epsilon", "grad"},
    .flag = "update_slots",
    .flag_default = true,
};

// Adagrad with dual averaging.
inline constexpr UpdateRule kAdagradDA = {
    .name = "AdagradDA",
    .doc =
        "g += grad; gg += grad²; var = -lr * sign(g) * max(|g| - l1 * global_step, 0) / (l2 * "
        "lr * global_step + sqrt(gg)), where g and gg are the two accumulators.",
    .slots = {{"gradient_accumulator", "accum"}, {"gradient_squared_accumulator", "accum"}},
    .inputs = {"grad", "lr", "l1", "l2", {"global_step", DT_INT64}},
};

// Adagrad, then the proximal step of an L1 and L2 penalty.
inline constexpr UpdateRule kProximalAdagrad = {
    .name = "ProximalAdagrad",
    .doc =
        "accum += grad²; a = lr / sqrt(accum); p = var - a * grad; var = sign(p) * max(|p| - a "
        "* l1, 0) / (1 + a * l2).",
    .slots = {"accum"},
    .inputs = {{"lr", {ScalarCheck::kPositive}},
               {"l1", {ScalarCheck::kNonNegative}},
               {"l2", {ScalarCheck::kNonNegative}},
               "grad"},
};

// The gradient is multiplied by the root of the mean of recent squared steps, and divided by that
// of recent squared gradients (Zeiler 2012).
inline constexpr UpdateRule kAdadelta = {
    .name = "Adadelta",
    .doc =
        "accum = rho * accum + (1 - rho) * grad²; u = sqrt(accum_update + epsilon) / sqrt(accum "
        "+ epsilon) * grad; accum_update = rho * accum_update + (1 - rho) * u²; var -= lr * u.",
    .slots = {{"accum", "accum", "accum_grad"}, "accum_update"},
    .inputs = {"lr", "rho", "epsilon", "grad"},
};

// The message has a space before the colon, as in TensorFlow.
inline constexpr UpdateInput kAdamLr = {"lr", {.message = "lr is not a scalar : "}};

// The step follows the mean of recent gradients, divided by the root of the mean of their squares
// (Kingma, Ba 2015).
inline constexpr UpdateRule kAdam = {
    .name = "Adam",
    .doc =
        "m += (1 - beta1) * (grad - m); v += (1 - beta2) * (grad² - v); var -= lr * sqrt(1 - "
        "beta2_power) / (1 - beta1_power) * m / (sqrt(v) + epsilon). With `use_nesterov`, beta1 "
        "* m + (1 - beta1) * grad replaces m in the last formula.",
    .slots = {"m", "v"},
    .inputs = {"beta1_power", "beta2_power", kAdamLr, "beta1", "beta2", "epsilon", "grad"},
    .flag = "use_nesterov",
    .has_sparse = false,
};

// Adam that divides by the root of the largest v so far (Reddi, Kale, Kumar 2018).
inline constexpr UpdateRule kAdamWithAmsgrad = {
    .name = "AdamWithAmsgrad",
    .doc =
        "m += (1 - beta1) * (grad - m); v += (1 - beta2) * (grad² - v); vhat = max(vhat, v); "
        "var -= lr * sqrt(1 - beta2_power) / (1 - beta1_power) * m / (sqrt(vhat) + epsilon).",
    .slots = {"m", "v", "vhat"},
    .inputs = {"beta1_power", "beta2_power", kAdamLr, "beta1", "beta2", "epsilon", "grad"},
    .has_ref = false,
    .has_sparse = false,
};

// Adam that divides by a decaying maximum of |grad| (Kingma, Ba 2015, section 7).
inline constexpr UpdateRule kAdaMax = {
    .name = "AdaMax",
    .doc =
        "m += (1 - beta1) * (grad - m); v = max(beta2 * v, |grad|); var -= lr / (1 - "
        "beta1_power) * m / (v + epsilon).",
    .slots = {"m", "v"},
    .inputs = {"beta1_power", kAdamLr, "beta1", "beta2", "epsilon", "grad"},
    .has_sparse = false,
};

inline constexpr UpdateInput kRMSPropLr = {"lr", {.message = "lr is not a scalar : "}, {}};

// The step is divided by the root of the mean of recent squared gradients.
inline constexpr UpdateRule kRMSProp = {
    .name = "RMSProp",
    .doc =
        "ms += (1 - rho) * (grad² - ms); mom = momentum * mom + lr * grad / sqrt(ms + epsilon); "
        "var -= mom.",
    .slots = {"ms", "mom"},
    .inputs = {kRMSPropLr, "rho", "momentum", "epsilon", "grad"},
};

// RMSProp that divides by the standard deviation of recent gradients.
inline constexpr UpdateRule kCenteredRMSProp = {
    .name = "CenteredRMSProp",
    .doc =
        "mg += (1 - rho) * (grad - mg); ms += (1 - rho) * (grad² - ms); mom = momentum * mom + "
        "lr * grad / sqrt(ms - mg² + epsilon); var -= mom.",
    .slots = {"mg", "ms", "mom"},
    .inputs = {kRMSPropLr, "rho", "momentum", "epsilon", "grad"},
};

// Only the sparse ops check the signs of Ftrl's scalars.
inline constexpr UpdateInput kFtrlLr = {
    "lr",
    {},
    {ScalarCheck::kNonNegative,
     "lr is not a positive scalar (or zero if multiply_linear_by_lr is set): "}};
inline constexpr UpdateInput kFtrlL1 = {"l1", {}, {ScalarCheck::kNonNegative}};
inline constexpr UpdateInput kFtrlL2 = {"l2", {}, {ScalarCheck::kNonNegative}};
inline constexpr UpdateInput kFtrlL2Shrinkage = {"l2_shrinkage", {}, {ScalarCheck::kNonNegative}};
inline constexpr UpdateInput kFtrlLrPower = {
    "lr_power", {.message = "lr_power is not a scalar"}, {ScalarCheck::kNonPositive}};

// Follow the regularised leader, proximal (McMahan and others 2013).
inline constexpr UpdateRule kFtrl = {
    .name = "Ftrl",
    .doc =
        "n = accum + grad²; linear += grad - (n^-lr_power - accum^-lr_power) / lr * var; var = "
        "(clip(linear, -l1, l1) - linear) / (n^-lr_power / lr + 2 * l2); accum = n. With "
        "`multiply_linear_by_lr`, `linear` is stored times lr.",
    .slots = {"accum", "linear"},
    .inputs = {"grad", kFtrlLr, kFtrlL1, kFtrlL2, kFtrlLrPower},
    .flag = "multiply_linear_by_lr",
};

// Ftrl that adds the gradient of another L2 penalty to `linear`, but not to `accum`.
inline constexpr UpdateRule kFtrlV2 = {
    .name = "FtrlV2",
    .doc = "Ftrl in which linear grows by grad + 2 * l2_shrinkage * var instead of grad.",
    .slots = {"accum", "linear"},
    .inputs = {"grad", kFtrlLr, kFtrlL1, kFtrlL2, kFtrlL2Shrinkage, kFtrlLrPower},
    .flag = "multiply_linear_by_lr",
};

// The step is larger if gradient and momentum agree in sign (Bello and others 2017).
inline constexpr UpdateRule kAddSign = {
    .name = "AddSign",
    .doc =
        "m = beta * m + (1 - beta) * grad; var -= lr * (alpha + sign_decay * sign(grad) * "
        "sign(m)) * grad.",
    .slots = {"m"},
    .inputs = {"lr", "alpha", "sign_decay", "beta", "grad"},
    .has_sparse = false,
};

inline constexpr UpdateRule kPowerSign = {
    .name = "PowerSign",
    .doc =
        "m = beta * m + (1 - beta) * grad; var -= lr * exp(logbase * sign_decay * sign(grad) * "
        "sign(m)) * grad.",
    .slots = {"m"},
    .inputs = {"lr", "logbase", "sign_decay", "beta", "grad"},
    .has_sparse = false,
};

// Adam after a decay of the weights (Loshchilov, Hutter 2019), as tf.keras.optimizers.AdamW.
inline constexpr UpdateRule kAdamW = {
    .name = "AdamW",
    .doc = "var -= lr * weight_decay * var; then Adam.",
    .slots = {"m", "v"},
    .inputs = {"beta1_power", "beta2_power", kAdamLr, "beta1", "beta2", "epsilon", "weight_decay",
               "grad"},
    .has_sparse = false,
};

// LAMB (You and others 2020) with a trust ratio per row, as FBGEMM's LAMB of embedding tables.
inline constexpr UpdateRule kLamb = {
    .name = "Lamb",
    .doc =
        "m += (1 - beta1) * (grad - m); v += (1 - beta2) * (grad² - v); u = m / (1 - beta1_power) "
        "/ (sqrt(v / (1 - beta2_power)) + epsilon) + weight_decay * var; var -= lr * |var| / |u| * "
        "u, where |x| is the norm of a row. |var| / |u| is 1 if one of them is 0.",
    .slots = {"m", "v"},
    .inputs = {"beta1_power", "beta2_power", kAdamLr, "beta1", "beta2", "epsilon", "weight_decay",
               "grad"},
    .is_row_wise = true,
    .is_for_tables_only = true,
};

// Adam whose powers of beta belong to one variable, so that variables are updated without waiting
// for each other: DeepRec's AdamAsync.
inline constexpr UpdateRule kAdamAsync = {
    .name = "AdamAsync",
    .doc =
        "m = beta1 * m + (1 - beta1) * grad; v = beta2 * v + (1 - beta2) * grad²; var -= lr * "
        "sqrt(1 - beta2_power) / (1 - beta1_power) * m / (sqrt(v) + epsilon). With "
        "`apply_sparse_rmsprop`: v = beta2 * v + (1 - beta2) * grad²; m = beta1 * m + lr * grad / "
        "sqrt(v + epsilon); var -= m.",
    .slots = {"m", "v"},
    .inputs = {"beta1_power", "beta2_power", kAdamLr, "beta1", "beta2", "epsilon", "grad"},
    .flag = "apply_sparse_rmsprop",
};

// Adagrad whose accumulator decays every accum_decay_step steps: DeepRec's AdagradDecay.
inline constexpr UpdateRule kAdagradDecay = {
    .name = "AdagradDecay",
    .doc =
        "If floor(global_step / accum_decay_step) > accum_decay_power: accum = max(accum * "
        "accum_decay_rate, accum_baseline), accum_decay_power += 1. Then accum += grad²; var -= lr "
        "* grad / sqrt(accum).",
    .slots = {"accum", "accum_decay_power"},
    .inputs = {"lr",
               {"accum_decay_step", {ScalarCheck::kPositive}, DT_INT64},
               "accum_decay_rate",
               "accum_baseline",
               {"global_step", DT_INT64},
               "grad"},
};

// The strength of the penalty on the norm of a row.
inline constexpr UpdateInput kGroupL21 = {"l21", {ScalarCheck::kNonNegative}};

// FTRL with a sparse group lasso, whose groups are rows (Ni and others 2019): TFPlus's
// SparseGroupFtrl.
inline constexpr UpdateRule kGroupFtrl = {
    .name = "GroupFtrl",
    .doc =
        "n = accum + grad²; linear += grad - (n^-lr_power - accum^-lr_power) / lr * var; s = "
        "clip(linear, -l1, l1) - linear; b = l21 * sqrt(elements of the row); var = max(1 - b / "
        "|s|, 0) * s / (n^-lr_power / lr + 2 * l2), where |s| is the norm of the row; accum = n.",
    .slots = {"accum", "linear"},
    .inputs = {"grad",
               {"lr", {ScalarCheck::kPositive}},
               {"l1", {ScalarCheck::kNonNegative}},
               {"l2", {ScalarCheck::kNonNegative}},
               kGroupL21,
               {"lr_power", {ScalarCheck::kNonPositive}}},
    .is_row_wise = true,
};

// Adam with a sparse group lasso, whose groups are rows (Yue and others 2021, arXiv:2107.14432), in
// the form of TFPlus's GroupAdam, version 4. It is Adam if l1, l2 and l21 are 0.
inline constexpr UpdateRule kGroupAdam = {
    .name = "GroupAdam",
    .doc =
        "m = beta1 * m + (1 - beta1) * grad; w = beta2 * v + (1 - beta2) * grad²; linear += lr * "
        "sqrt(1 - beta2_power) / (1 - beta1_power) * m - (sqrt(w) - sqrt(v)) * var, and -= epsilon "
        "* var in the first update; s = clip(linear, -lr * l1, lr * l1) - linear; b = lr * l21 * "
        "sqrt(elements of the row); var = max(1 - b / |s|, 0) * s / (sqrt(w) + epsilon + 2 * lr * "
        "l2), where |s| is the norm of the row; v = w.",
    .slots = {"m", "v", "linear"},
    .inputs = {"beta1_power",
               "beta2_power",
               {"lr", {ScalarCheck::kPositive}},
               "beta1",
               "beta2",
               "epsilon",
               {"l1", {ScalarCheck::kNonNegative}},
               {"l2", {ScalarCheck::kNonNegative}},
               kGroupL21,
               "grad"},
    .is_row_wise = true,
};

}  // namespace sluice

#endif  // SLUICE_OPS_UPDATE_RULES_H_
