/* The C header alone, as C11 with every warning: tensors, an op, gradients, errors, a function that
 * is traced, saved, loaded and run. */
#include <lathe/lathe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(lathe_status status, const char* what) {
  if (status == LATHE_OK) return;
  fprintf(stderr, "%s: %s: %s\n", what, lathe_status_name(status), lathe_last_error());
  exit(1);
}

static void expect(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "not so: %s\n", what);
  exit(1);
}

static lathe_tensor* call(const char* name, const lathe_arg* args, size_t n) {
  const lathe_op* op;
  lathe_tensor* out = NULL;
  must(lathe_find_op(name, &op), name);
  must(lathe_call(op, args, n, &out, 1, NULL), name);
  return out;
}

static lathe_tensor* multiply(lathe_tensor* a, lathe_tensor* b) {
  lathe_arg args[2] = {{NULL, LATHE_ARG_TENSOR, 0, {0}}, {NULL, LATHE_ARG_TENSOR, 0, {0}}};
  args[0].is.tensor = a;
  args[1].is.tensor = b;
  return call("mul", args, 2);
}

static lathe_tensor* total(lathe_tensor* x) {
  lathe_arg args[2] = {{NULL, LATHE_ARG_TENSOR, 0, {0}}, {"keepdim", LATHE_ARG_FLAG, 0, {0}}};
  args[0].is.tensor = x;
  return call("sum", args, 2);
}

static void gradients(void) {
  const float values[3] = {1, 2, 3};
  const int64_t sizes[1] = {3};
  lathe_tensor *x, *dx;
  float got[3];
  must(lathe_tensor_copy(values, LATHE_F32, sizes, 1, &x), "copy");
  must(lathe_set_requires_grad(x, 1), "requires_grad");
  lathe_tensor *y = multiply(x, x), *sum = total(y);
  must(lathe_backward(sum, NULL, 0), "backward");
  must(lathe_tensor_grad(x, &dx), "grad");
  must(lathe_tensor_read(dx, got, sizeof got), "read");
  expect(got[0] == 2 && got[1] == 4 && got[2] == 6, "the gradient of x * x");
  lathe_tensor_release(dx);
  lathe_tensor_release(sum);
  lathe_tensor_release(y);
  lathe_tensor_release(x);
}

static int released = 0;
static void release(void* user) { released += *(int*)user; }

static void memory(void) {
  static float values[6] = {1, 2, 3, 4, 5, 6};
  const int64_t sizes[2] = {2, 3};
  int one = 1;
  lathe_tensor* x;
  const void* data;
  char* text;
  float got[6];
  int64_t back[2];
  must(lathe_tensor_borrow(values, LATHE_F32, sizes, 2, release, &one, &x), "borrow");
  must(lathe_tensor_data(x, &data), "data");
  expect(data == values, "borrowed memory is not copied");
  must(lathe_tensor_sizes(x, back), "sizes");
  expect(lathe_tensor_rank(x) == 2 && back[0] == 2 && back[1] == 3, "two by three");
  expect(lathe_tensor_dtype(x) == LATHE_F32 && lathe_dtype_bytes(LATHE_F32) == 4, "float32");
  must(lathe_tensor_device(x, &text), "device");
  expect(strcmp(text, "cpu") == 0, "in host memory");
  lathe_text_release(text);
  must(lathe_tensor_print(x, &text), "print");
  expect(strstr(text, "6.") != NULL, "all elements are printed");
  lathe_text_release(text);

  lathe_arg args[3] = {{NULL, LATHE_ARG_TENSOR, 0, {0}},
                       {NULL, LATHE_ARG_INTEGER, 0, {0}},
                       {NULL, LATHE_ARG_INTEGER, 0, {0}}};
  args[0].is.tensor = x;
  args[1].is.integer = 0;
  args[2].is.integer = 1;
  lathe_tensor* turned = call("transpose", args, 3);
  expect(lathe_tensor_data(turned, &data) == LATHE_VALUE_ERROR, "strided elements are no array");
  must(lathe_tensor_read(turned, got, sizeof got), "read");
  expect(got[1] == 4 && got[2] == 2, "read in the order of the view");
  lathe_tensor_release(turned);

  args[1].is.integer = 7;
  lathe_tensor* filled = call("full_like", args, 2);
  must(lathe_tensor_assign(x, filled), "assign");
  expect(values[0] == 7 && values[5] == 7, "the borrowed memory was written");
  lathe_tensor_release(filled);
  expect(released == 0, "it is in use");
  lathe_tensor_release(x);
  expect(released == 1, "it was given back once");
}

static void settings(void) {
  char* text;
  const lathe_op* op;
  must(lathe_set_flag("threads", "2"), "set_flag");
  must(lathe_get_flag("threads", &text), "get_flag");
  expect(strcmp(text, "2") == 0, "the flag is set");
  lathe_text_release(text);
  expect(lathe_set_flag("no_such_flag", "1") == LATHE_NAME_ERROR, "flags have names");
  expect(lathe_op_count() > 100, "there are ops");
  for (size_t i = 0; i < lathe_op_count(); ++i) {
    must(lathe_find_op(lathe_op_name(i), &op), "every op is found by its name");
    expect(strncmp(lathe_op_schema(op), lathe_op_name(i), strlen(lathe_op_name(i))) == 0, "schema");
  }
  lathe_at_line("my_program.c", 42);
  expect(lathe_find_op("no_such_op", &op) == LATHE_NAME_ERROR, "an error");
  expect(strstr(lathe_last_error(), "my_program.c:42") != NULL, "errors name the caller's line");
  lathe_at_line(NULL, 0);
}

static void errors(void) {
  const int64_t three[1] = {3}, four[1] = {4};
  const float zeros[4] = {0, 0, 0, 0};
  const lathe_op* op;
  lathe_tensor *a, *b, *out = NULL;
  expect(lathe_find_op("no_such_op", &op) == LATHE_NAME_ERROR, "an unknown op is named");
  expect(strstr(lathe_last_error(), "no_such_op") != NULL, "the error names it");
  must(lathe_tensor_copy(zeros, LATHE_F32, three, 1, &a), "copy");
  must(lathe_tensor_copy(zeros, LATHE_F32, four, 1, &b), "copy");
  must(lathe_find_op("add", &op), "add");
  lathe_arg args[2] = {{NULL, LATHE_ARG_TENSOR, 0, {0}}, {NULL, LATHE_ARG_TENSOR, 0, {0}}};
  args[0].is.tensor = a;
  args[1].is.tensor = b;
  expect(lathe_call(op, args, 2, &out, 1, NULL) == LATHE_SHAPE_ERROR, "shapes are checked");
  args[1].is.tensor = a;
  expect(lathe_call(op, args, 2, NULL, 0, NULL) == LATHE_VALUE_ERROR, "so is the room");
  expect(lathe_call(NULL, args, 2, &out, 1, NULL) == LATHE_TYPE_ERROR, "so is NULL");
  expect(lathe_tensor_read(a, NULL, 12) == LATHE_TYPE_ERROR, "everywhere");
  lathe_program* p = NULL;
  expect(lathe_program_load("/no/such.lathe", &p) == LATHE_FILE_ERROR, "a missing file");
  expect(lathe_program_parse("LATHE", 5, "five", &p) == LATHE_FILE_ERROR, "a short file");
  lathe_tensor_release(a);
  lathe_tensor_release(b);
}

static lathe_status square(void* user, lathe_tensor* const* in, size_t n, lathe_tensor** out,
                           size_t room, size_t* count) {
  ++*(int*)user;
  if (n != 1 || room < 1) return lathe_fail(LATHE_TYPE_ERROR, "square takes one tensor");
  out[0] = multiply(in[0], in[0]);
  *count = 1;
  return LATHE_OK;
}

static void tracing(const char* path) {
  int runs = 0;
  int64_t calls, traces;
  lathe_function* f;
  lathe_program *made, *loaded;
  must(lathe_function_create("square", square, &runs, NULL, &f), "create");
  for (int64_t n = 0; n < 4; ++n) {
    const float values[3] = {1, 2, 3};
    lathe_tensor *x, *y;
    float got[3];
    must(lathe_tensor_copy(values, LATHE_F32, &n, 1, &x), "copy");
    must(lathe_function_call(f, &x, 1, &y, 1, NULL), "call");
    must(lathe_tensor_read(y, got, (size_t)n * sizeof got[0]), "read");
    for (int64_t i = 0; i < n; ++i) expect(got[i] == values[i] * values[i], "a square");
    if (n == 3) {
      must(lathe_function_capture(f, &x, 1, &made), "capture");
      must(lathe_program_save(made, path), "save");
      must(lathe_program_load(path, &loaded), "load");
      lathe_slot slot = {sizeof slot, NULL, LATHE_BOOL, 0, NULL};
      must(lathe_program_input(loaded, 0, &slot), "input");
      expect(slot.rank == 1 && slot.dtype == LATHE_F32 && slot.sizes[0] == -1, "one free size");
      lathe_tensor* again;
      must(lathe_program_run(loaded, &x, 1, &again, 1, NULL), "run");
      must(lathe_tensor_read(again, got, sizeof got), "read");
      expect(got[2] == 9, "the loaded program squares");
      lathe_tensor_release(again);
      lathe_program_release(loaded);
      lathe_program_release(made);
    }
    lathe_tensor_release(x);
    lathe_tensor_release(y);
  }
  lathe_function_counts(f, &calls, &traces);
  expect(calls == 4 && traces == 1, "one trace for four sizes");
  expect(runs == 2, "the body ran to be traced, and to be captured");
  expect(lathe_function_call(f, NULL, 0, NULL, 0, NULL) == LATHE_TYPE_ERROR, "a callback's error");
  expect(strstr(lathe_last_error(), "square takes one tensor") != NULL, "with its own words");
  lathe_function_release(f);
}

int main(int argc, char** argv) {
  expect(lathe_abi() == LATHE_ABI, "the library is of this header's version");
  gradients();
  memory();
  settings();
  errors();
  tracing(argc > 1 ? argv[1] : "square.lathe");
  puts("ok");
  return 0;
}
