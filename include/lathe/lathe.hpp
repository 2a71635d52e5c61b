// Lathe for C++17: header-only over lathe.h, so any compiler and standard library will do.
//
//   #include <lathe/lathe.hpp>
//
//   lathe::Tensor x({1.f, 2.f, 3.f}, {3});
//   x.set_requires_grad();
//   (x * x).sum().backward();                         // x.grad(): [2, 4, 6]
//
//   lathe::Program digits = lathe::load("digits.lathe");
//   lathe::Tensor scores = digits(images);            // the bits that Python gets
//
//   auto layer = lathe::trace([](lathe::Tensor x, lathe::Tensor w) {
//     return lathe::ops::gelu(lathe::ops::matmul(x, w));
//   });
//   lathe::Tensor y = layer(x, w);                    // compiled at the first call
//
// Every op is in lathe::ops, by the name and with the defaults that it has in Python; the list is
// that of lathe/ops/*.h, which the library itself uses. An op that is not in those headers (one of
// a plug-in) is lathe::call("name", ...). Errors are thrown as lathe::Error.
#pragma once

#include "lathe/cpp/error.hpp"
#include "lathe/cpp/grad.hpp"
#include "lathe/cpp/ops.hpp"
#include "lathe/cpp/program.hpp"
#include "lathe/cpp/rewrite.hpp"
#include "lathe/cpp/tensor.hpp"
#include "lathe/cpp/trace.hpp"
