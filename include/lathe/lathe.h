/* Lathe's C interface: all that is needed to embed it. Plain C11; nothing else of Lathe is
 * included.
 *
 * Every function that can fail gives a lathe_status; the sentence that goes with the last failure
 * on this thread is lathe_last_error(). No exception crosses this interface.
 *
 * Handles (lathe_tensor, lathe_program, lathe_function) are counted references. What a function
 * returns through `**` belongs to the caller, who releases it; what is passed in stays the
 * caller's. Text marked "borrowed" lives as long as its handle.
 *
 * Only what is marked LATHE_NULLABLE may be NULL, and an array of 0 elements. NULL elsewhere is a
 * LATHE_TYPE_ERROR whose text names the function and the parameter; a function that gives no status
 * then gives -1 (LATHE_NO_DTYPE, a rank), 0 or "", and lathe_last_error() says why.
 *
 * Any thread may call anything, also on the same handle, but for writes to one tensor: those are
 * the caller's to order, as in every library. A program may run on any number of threads at once.
 *
 * Structs that may grow begin with their own size, so that programs built against an older header
 * keep working; lathe_abi() changes when that is not possible. docs/cpp.md shows all of it at work;
 * lathe.hpp is the same for C++17. */
#ifndef LATHE_LATHE_H
#define LATHE_LATHE_H

#include <stddef.h>
#include <stdint.h>

#define LATHE_ABI 1
#define LATHE_API __attribute__((visibility("default")))
#define LATHE_NULLABLE /* before a parameter's name: it may be NULL */

#ifdef __cplusplus
extern "C" {
#endif

/* ── the library ────────────────────────────────────────────────────────────────────────────── */

/* LATHE_ABI of the library that was loaded: compare it once with this header's. */
LATHE_API uint32_t lathe_abi(void);
LATHE_API const char* lathe_version(void); /* "0.1.0" */

/* ── errors ─────────────────────────────────────────────────────────────────────────────────── */

typedef enum lathe_status {
  LATHE_OK = 0,
  LATHE_SHAPE_ERROR,       /* sizes do not fit together */
  LATHE_DTYPE_ERROR,       /* an element type the op is not defined for */
  LATHE_DEVICE_ERROR,      /* operands on different devices, or an unknown one */
  LATHE_INDEX_ERROR,       /* an axis or an element index out of range */
  LATHE_VALUE_ERROR,       /* an argument outside its domain */
  LATHE_TYPE_ERROR,        /* an argument of the wrong kind altogether */
  LATHE_OVERFLOW_ERROR,    /* a size or count outside the range of a size */
  LATHE_TRACE_ERROR,       /* something a trace cannot capture */
  LATHE_SCRIPT_ERROR,      /* something a script cannot express */
  LATHE_ALIAS_ERROR,       /* a write that overlaps itself or another operand */
  LATHE_AUTOGRAD_ERROR,    /* backward without history, or a saved value that changed */
  LATHE_FILE_ERROR,        /* a damaged, unknown or unreadable file */
  LATHE_MEMORY_ERROR,      /* out of memory, or over the flag max_memory */
  LATHE_CANCELLED_ERROR,   /* stopped before it was done */
  LATHE_UNSUPPORTED_ERROR, /* valid, but this build or device has no way to do it */
  LATHE_NAME_ERROR,        /* an op, flag or attribute that does not exist */
  LATHE_INTERNAL_ERROR,    /* a fault in Lathe itself; please report it */
  LATHE_LINALG_ERROR       /* a matrix that has no such decomposition or inverse */
} lathe_status;

LATHE_API const char* lathe_status_name(lathe_status status); /* "ShapeError" */
/* What failed last on this thread: what it got, what it expected, where, and what to do. Borrowed
 * until the next failure. "" if nothing has failed yet. */
LATHE_API const char* lathe_last_error(void);
/* For callbacks: what lathe_last_error() is to say, and the status to give back. */
LATHE_API lathe_status lathe_fail(lathe_status status, const char* LATHE_NULLABLE message);
/* The line of the caller's source that errors and explanations name from now on, on this thread.
 * NULL: none. */
LATHE_API void lathe_at_line(const char* LATHE_NULLABLE file, int line);

/* Text that a function gave through char**. */
LATHE_API void lathe_text_release(char* LATHE_NULLABLE text);

/* ── settings ───────────────────────────────────────────────────────────────────────────────── */

/* Flags of the process, as in docs/flags: "threads", "log_level", "cache_dir" ... */
LATHE_API lathe_status lathe_set_flag(const char* name, const char* value);
LATHE_API lathe_status lathe_get_flag(const char* name, char** value);
/* How many threads compute, and why so many: affinity, a cgroup's quota, the environment, a flag.
 */
LATHE_API lathe_status lathe_threads(char** text);
LATHE_API void lathe_manual_seed(uint64_t seed);
/* Receives every message that passes the flag log_level, on the thread that logs. NULL: standard
 * error. Levels: 0 debug, 1 info, 2 warning, 3 error. */
LATHE_API void lathe_set_log(void (*LATHE_NULLABLE log)(int level, const char* message));

/* ── tensors ────────────────────────────────────────────────────────────────────────────────── */

typedef struct lathe_tensor lathe_tensor;

typedef enum lathe_dtype {
  LATHE_NO_DTYPE = -1, /* what lathe_tensor_dtype gives where there is no tensor */
  LATHE_BOOL = 0,
  LATHE_U8 = 1,
  LATHE_I8 = 2,
  LATHE_I16 = 3,
  LATHE_I32 = 4,
  LATHE_I64 = 5,
  LATHE_F16 = 6,
  LATHE_BF16 = 7,
  LATHE_F32 = 8,
  LATHE_F64 = 9,
  LATHE_C64 = 10,
  LATHE_U16 = 11,
  LATHE_U32 = 12,
  LATHE_U64 = 13,
  LATHE_C128 = 14
} lathe_dtype;

LATHE_API size_t lathe_dtype_bytes(lathe_dtype dtype);     /* 0 for an unknown one */
LATHE_API const char* lathe_dtype_name(lathe_dtype dtype); /* "float32" */

/* A tensor of these sizes in host memory with a copy of the row-major elements at `data`. */
LATHE_API lathe_status lathe_tensor_copy(const void* data, lathe_dtype dtype, const int64_t* sizes,
                                         int rank, lathe_tensor** out);
/* The same over the caller's own memory, without a copy. `release(user)` is called when no tensor
 * uses it any more, on the thread that lets go. */
LATHE_API lathe_status lathe_tensor_borrow(void* data, lathe_dtype dtype, const int64_t* sizes,
                                           int rank, void (*LATHE_NULLABLE release)(void* user),
                                           void* LATHE_NULLABLE user, lathe_tensor** out);
LATHE_API lathe_tensor* lathe_tensor_retain(
    lathe_tensor* LATHE_NULLABLE t); /* one more reference to it */
LATHE_API void lathe_tensor_release(lathe_tensor* LATHE_NULLABLE t);

LATHE_API lathe_dtype lathe_tensor_dtype(const lathe_tensor* t);
LATHE_API int lathe_tensor_rank(const lathe_tensor* t);
/* `sizes` has room for rank numbers. While a function is traced, asking for a size ties the
 * program to it. */
LATHE_API lathe_status lathe_tensor_sizes(const lathe_tensor* t, int64_t* sizes);
LATHE_API lathe_status lathe_tensor_device(const lathe_tensor* t, char** name); /* "cpu" */
/* Copies the elements to `to`, row-major. VALUE_ERROR if `bytes` is not exactly their size. */
LATHE_API lathe_status lathe_tensor_read(const lathe_tensor* t, void* to, size_t bytes);
/* The elements where they lie, borrowed. VALUE_ERROR unless they lie row-major without gaps. */
LATHE_API lathe_status lathe_tensor_data(const lathe_tensor* t, const void** data);
LATHE_API lathe_status lathe_tensor_print(const lathe_tensor* t, char** text);
/* t[...] = value, with broadcasting and conversion: the only way a tensor changes. */
LATHE_API lathe_status lathe_tensor_assign(lathe_tensor* t, const lathe_tensor* value);

/* ── calling ops ────────────────────────────────────────────────────────────────────────────── */

typedef struct lathe_op lathe_op; /* never released */

typedef enum lathe_kind {
  LATHE_ARG_NONE = 0,
  LATHE_ARG_TENSOR,
  LATHE_ARG_INTEGER,
  LATHE_ARG_REAL,
  LATHE_ARG_FLAG,
  LATHE_ARG_DTYPE,
  LATHE_ARG_DEVICE, /* text: "cpu" */
  LATHE_ARG_TEXT,
  LATHE_ARG_INTEGERS, /* count of them */
  LATHE_ARG_TENSORS   /* count of them */
} lathe_kind;

typedef struct lathe_arg {
  const char* LATHE_NULLABLE name; /* NULL: by position; such arguments come first */
  lathe_kind kind;
  uint32_t count;
  union {
    lathe_tensor* tensor;
    int64_t integer;
    double real;
    int32_t flag;
    lathe_dtype dtype;
    const char* text;
    const int64_t* integers;
    lathe_tensor* const* tensors;
  } is;
} lathe_arg;

/* NAME_ERROR suggests the nearest names. */
LATHE_API lathe_status lathe_find_op(const char* name, const lathe_op** op);
LATHE_API const char* lathe_op_schema(const lathe_op* op); /* "relu(Tensor x) -> Tensor" */
/* How many ops there are, and the name of each: borrowed. */
LATHE_API size_t lathe_op_count(void);
LATHE_API const char* lathe_op_name(size_t index);
/* Runs the op on these arguments; what is left out has the schema's default. `results` has room
 * for `room` tensors, and *count says how many there are: VALUE_ERROR if that is more. */
LATHE_API lathe_status lathe_call(const lathe_op* op, const lathe_arg* args, size_t arg_count,
                                  lathe_tensor** results, size_t room,
                                  size_t* LATHE_NULLABLE count);

/* ── gradients ──────────────────────────────────────────────────────────────────────────────── */

LATHE_API lathe_status lathe_set_requires_grad(lathe_tensor* t, int on);
LATHE_API int lathe_requires_grad(const lathe_tensor* t); /* 1, 0, or -1 for NULL */
/* Adds to the gradient of every leaf that y depends on. dy: what y is multiplied by; NULL for a y
 * of one element. */
LATHE_API lathe_status lathe_backward(const lathe_tensor* y, const lathe_tensor* LATHE_NULLABLE dy,
                                      int retain);
/* What backward has gathered in a leaf; *out is NULL where there is nothing yet. */
LATHE_API lathe_status lathe_tensor_grad(const lathe_tensor* t, lathe_tensor** out);
LATHE_API lathe_status lathe_clear_grad(lathe_tensor* t);
/* dxs[i] = the gradient of sum(ys * dys) by xs[i]; no leaf changes. dys may be NULL, or hold NULLs.
 * create: record it too, for higher derivatives. */
LATHE_API lathe_status lathe_grad(lathe_tensor* const* ys, lathe_tensor* const* LATHE_NULLABLE dys,
                                  size_t y_count, lathe_tensor* const* xs, size_t x_count,
                                  int create, lathe_tensor** dxs);
LATHE_API lathe_status lathe_detach(const lathe_tensor* t, lathe_tensor** out);
/* Whether this thread records what it computes. Gives what it was before. */
LATHE_API int lathe_enable_grad(int on);
/* What this thread computes products of f32 operands in: LATHE_F16, LATHE_BF16, or LATHE_F32 for as
 * they are; losses and linear algebra are then in f32 whatever their operands are in. *before: what
 * it was. */
LATHE_API lathe_status lathe_autocast(lathe_dtype dtype, lathe_dtype* before);

/* ── programs: what lathe.save wrote ────────────────────────────────────────────────────────── */

typedef struct lathe_program lathe_program;

LATHE_API lathe_status lathe_program_load(const char* path, lathe_program** out);
/* The same from memory; `name` is what errors call it. */
LATHE_API lathe_status lathe_program_parse(const void* data, size_t bytes,
                                           const char* LATHE_NULLABLE name, lathe_program** out);
/* A program of a text of graphs, as LATHE_GRAPH gives it or written by hand: of its first function
 * (NULL), or of the one named. `name` is what errors call the text. */
LATHE_API lathe_status lathe_program_of_text(const char* text, const char* LATHE_NULLABLE function,
                                             const char* LATHE_NULLABLE name, lathe_program** out);
LATHE_API lathe_program* lathe_program_retain(lathe_program* LATHE_NULLABLE p);
LATHE_API void lathe_program_release(lathe_program* LATHE_NULLABLE p);
LATHE_API lathe_status lathe_program_save(const lathe_program* p, const char* path);

/* One input or output. Set `size` to sizeof(lathe_slot) before asking. */
typedef struct lathe_slot {
  size_t size;
  const char* name; /* borrowed; "" if it has none */
  lathe_dtype dtype;
  int32_t rank;         /* -1: a number, not a tensor */
  const int64_t* sizes; /* borrowed; -1: any size */
} lathe_slot;

LATHE_API size_t lathe_program_input_count(const lathe_program* p);
LATHE_API size_t lathe_program_output_count(const lathe_program* p);
LATHE_API lathe_status lathe_program_input(const lathe_program* p, size_t index, lathe_slot* slot);
LATHE_API lathe_status lathe_program_output(const lathe_program* p, size_t index, lathe_slot* slot);

/* Runs it. Inputs that it writes to are written to. Results as in lathe_call: where an input
 * requires grad, so do they, and a gradient goes back through the program. */
LATHE_API lathe_status lathe_program_run(const lathe_program* p, lathe_tensor* const* inputs,
                                         size_t input_count, lathe_tensor** results, size_t room,
                                         size_t* LATHE_NULLABLE count);
/* Generates all machine code now instead of at the first runs. *why says what could not be: then
 * precompiled code runs, with the same results. NULL if it is not wanted. */
LATHE_API lathe_status lathe_program_compile(const lathe_program* p, char** LATHE_NULLABLE why);
/* The most bytes that the intermediates of one run have taken so far. */
LATHE_API size_t lathe_program_peak_bytes(const lathe_program* p);

/* ── functions: C or C++ code, traced ───────────────────────────────────────────────────────── */

typedef struct lathe_function lathe_function;

/* Computes `results` from `inputs` with lathe_call and the like; they are the caller's, and what
 * it gives passes to Lathe. It sees tensors that have sizes but no elements: asking for elements
 * is a TRACE_ERROR. Threads that call one function at once may be in its body at once. */
typedef lathe_status (*lathe_body)(void* user, lathe_tensor* const* inputs, size_t input_count,
                                   lathe_tensor** results, size_t room, size_t* count);

/* `drop(user)` is called when the function goes. */
LATHE_API lathe_status lathe_function_create(const char* LATHE_NULLABLE name, lathe_body body,
                                             void* LATHE_NULLABLE user,
                                             void (*LATHE_NULLABLE drop)(void* user),
                                             lathe_function** out);
LATHE_API lathe_function* lathe_function_retain(lathe_function* LATHE_NULLABLE f);
LATHE_API void lathe_function_release(lathe_function* LATHE_NULLABLE f);
/* Runs `body` once for inputs of a new kind (dtypes, ranks, what it asked of sizes), and from then
 * on the program compiled from what it did. Tensors that body captures are part of that. */
LATHE_API lathe_status lathe_function_call(lathe_function* f, lathe_tensor* const* inputs,
                                           size_t input_count, lathe_tensor** results, size_t room,
                                           size_t* LATHE_NULLABLE count);
/* How often it was called, and how often it had to be traced. */
LATHE_API void lathe_function_counts(const lathe_function* f, int64_t* LATHE_NULLABLE calls,
                                     int64_t* LATHE_NULLABLE traces);
/* The program it is for inputs like these, by itself: to be saved, or run without guards. */
LATHE_API lathe_status lathe_function_capture(lathe_function* f, lathe_tensor* const* inputs,
                                              size_t input_count, lathe_program** out);

/* ── looking inside ─────────────────────────────────────────────────────────────────────────── */

typedef enum lathe_view {
  LATHE_EXPLAIN = 0, /* a line a step: what it computes, what runs it, where it comes from */
  LATHE_GRAPH,       /* as it was captured */
  LATHE_OPTIMISED,   /* as it runs */
  LATHE_NOTE,        /* what was done when it was made */
  LATHE_KERNELS,     /* a line for each node: op, the kernel chosen for it, line; tabs between */
  LATHE_VERBOSE      /* of every step also its parts, its bits, figures, and why not another */
} lathe_view;

LATHE_API lathe_status lathe_program_text(const lathe_program* p, lathe_view view, char** text);
LATHE_API lathe_status lathe_function_text(const lathe_function* f, lathe_view view, char** text);

/* ── rules of the program's own for the rewriter ────────────────────────────────────────────── */

/* In what is captured or loaded from now on, `replacement` takes the place of `pattern`: texts of
 * ops, as in "log(exp(x))" and "x". where: which dtypes and ranks it holds for. exact: 0 says that
 * it changes bits. *id: for lathe_rewrite_remove. */
LATHE_API lathe_status lathe_rewrite_add(const char* pattern, const char* replacement,
                                         const char* LATHE_NULLABLE where, int exact, int64_t* id);
LATHE_API lathe_status lathe_rewrite_remove(int64_t id);

#ifdef __cplusplus
}
#endif
#endif
