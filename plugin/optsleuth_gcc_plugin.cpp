// A plug-in for the distribution's own gcc, 11 to 15: numbers the invocations of
// passes, closes the gates of chosen ones, and prints a function before and after
// one of them.
//
// gcc asks a gate before every pass on every function. Where the gate is open, the
// pass gets the next number. A group of passes has no number: closing its gate
// would skip passes that others rely on.
//
// Never here: a decision which invocation to skip, or what a failure means. The
// control file says what to do, and the log what was done, line by line, so that
// it survives an internal compiler error.
//
// Control file, a word and its value per line:
//   log PATH        write the log there
//   skip FROM END   skip the invocations FROM <= number < END
//   required NAME   never skip a pass of this name: `rtl-split1`, or `rtl-split` for
//                   all that differ in their number alone
//   watch 1         say whether invocations change their functions
//   dump NUMBER     print the unit of this invocation,
//   before PATH     before it to this file
//   after PATH      and after it to that one, if it comes to its end
// and, in a cc1 of ours (cc1.cpp), where the same code is linked in:
//   coverage PATH   keep the marks of the probes in this file
//   window FROM END cover the invocations FROM <= number < END by themselves
//   detour AT BYTES put bytes into the compiler's own code
//
// Log, tab-separated:
//   # VERSION
//   NUMBER run|skip required|optional PASS FUNCTION
//   = NUMBER changed|same

#include "gcc-plugin.h"

#include "plugin-version.h"

#include "tree.h"
#include "gimple.h"
#include "rtl.h"
#include "tree-pass.h"
#include "context.h"
#include "dumpfile.h"
#include "cgraph.h"
#include "tree-cfg.h"
#include "print-rtl.h"
#include "memmodel.h"
#include "emit-rtl.h"

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#ifdef OPTSLEUTH_IN_CC1
#include "diagnostic.h"

#include "cc1.h"
#endif

int plugin_is_GPL_compatible;

namespace {

/// Goes up when the log changes its form.
const int log_version = 1;

/// What passes provide without which later ones still work.
#ifdef PROP_objsz
const unsigned int luxuries = PROP_gimple_opt_math | PROP_no_crit_edges | PROP_objsz;
#else
const unsigned int luxuries = PROP_gimple_opt_math | PROP_no_crit_edges;
#endif

/// Passes with others below them that optimize by themselves.
const char *const optimizing_groups[] = {"vect"};

struct Range {
  unsigned long from;
  unsigned long end;
  Range *next;
};

struct Word {
  const char *text;
  Word *next;
};

/// What the control file says.
struct Orders {
  const char *log;
  Range *skips;
  Word *required;
  bool watch;
  bool has_dump;
  unsigned long dump;
  const char *before;
  const char *after;
  Range window;
};

/// An invocation that was begun: its unit is looked at when the next gate is asked.
struct Begun {
  bool open;
  unsigned long number;
  tree function;
  bool is_rtl;
  uint64_t hash_before;
};

Orders orders;
Begun begun;
FILE *log_file;
unsigned long next_number;

[[noreturn]] void give_up(const char *what, const char *about) {
  fprintf(stderr, "optsleuth's plug-in: %s: %s\n", what, about);
  exit(3);
}

void read_orders(const char *path) {
  FILE *file = fopen(path, "r");
  if (!file)
    give_up("cannot read", path);
  char *line = nullptr;
  size_t size = 0;
  while (getline(&line, &size, file) != -1) {
    line[strcspn(line, "\n")] = '\0';
    char *value = strchr(line, ' ');
    if (!value)
      give_up("a line without a value", line);
    *value++ = '\0';
    if (!strcmp(line, "log")) {
      orders.log = xstrdup(value);
    } else if (!strcmp(line, "skip")) {
      Range *range = new Range();
      char *end = nullptr;
      range->from = strtoul(value, &end, 10);
      range->end = strtoul(end, nullptr, 10);
      range->next = orders.skips;
      orders.skips = range;
    } else if (!strcmp(line, "required")) {
      orders.required = new Word{xstrdup(value), orders.required};
    } else if (!strcmp(line, "watch")) {
      orders.watch = true;
    } else if (!strcmp(line, "dump")) {
      orders.has_dump = true;
      orders.dump = strtoul(value, nullptr, 10);
    } else if (!strcmp(line, "before")) {
      orders.before = xstrdup(value);
    } else if (!strcmp(line, "after")) {
      orders.after = xstrdup(value);
#ifdef OPTSLEUTH_IN_CC1
    } else if (!strcmp(line, "coverage")) {
      cc1::cover(value);
    } else if (!strcmp(line, "window")) {
      char *end = nullptr;
      orders.window.from = strtoul(value, &end, 10);
      orders.window.end = strtoul(end, nullptr, 10);
    } else if (!strcmp(line, "detour")) {
      cc1::detour(value);
#endif
    } else {
      give_up("not an order", line);
    }
  }
  free(line);
  fclose(file);
}

bool is_to_be_skipped(unsigned long number) {
  for (const Range *range = orders.skips; range; range = range->next)
    if (range->from <= number && number < range->end)
      return true;
  return false;
}

/// Whose passes they are, in the names of gcc's options.
const char *kind_of(const opt_pass *pass) {
  switch (pass->type) {
  case GIMPLE_PASS:
    return "tree";
  case RTL_PASS:
    return "rtl";
  case SIMPLE_IPA_PASS:
  case IPA_PASS:
    return "ipa";
  }
  return "other";
}

/// The name that gcc's own options have for it: `tree-dom2`, as in
/// `-fdump-tree-dom2`. What has no dump has its bare name, which begins with a star.
void write_name(const opt_pass *pass, char *name, size_t size) {
  const char *own = pass->name;
  if (own[0] == '*') {
    snprintf(name, size, "%s", own);
    return;
  }
  if (pass->static_pass_number > 0) {
    dump_file_info *info = g->get_dumps()->get_dump_file_info(pass->static_pass_number);
    if (info && info->suffix && info->suffix[0] == '.')
      own = info->suffix + 1;
  }
  snprintf(name, size, "%s-%s", kind_of(pass), own);
}

bool is_required(const opt_pass *pass, const char *name) {
  // gcc's own mark for passes without a dump: bookkeeping and warnings.
  if (pass->name[0] == '*' || pass->properties_provided & ~luxuries)
    return true;
  // With and without its number: `split` is `split1` to `split5`.
  size_t length = strlen(name);
  while (length > 0 && ISDIGIT(name[length - 1]))
    --length;
  for (const Word *word = orders.required; word; word = word->next)
    if (!strcmp(word->text, name) ||
        (strlen(word->text) == length && !strncmp(word->text, name, length)))
      return true;
  return false;
}

/// A group is not skipped as a whole, unless it optimizes.
bool has_number(const opt_pass *pass) {
  if (!pass->sub)
    return true;
  for (const char *name : optimizing_groups)
    if (!strcmp(pass->name, name))
      return true;
  return false;
}

const char *function_name(tree function) {
  if (!function)
    return "";
  if (DECL_ASSEMBLER_NAME_SET_P(function))
    return IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(function));
  return DECL_NAME(function) ? IDENTIFIER_POINTER(DECL_NAME(function)) : "";
}

/// Prints what an invocation works on: its function, or all of them.
void print_unit(FILE *out, tree function, bool is_rtl) {
  if (is_rtl) {
    print_rtl_with_bb(out, get_insns(), TDF_NONE);
    return;
  }
  if (function) {
    dump_function_to_file(function, out, TDF_ALIAS);
    return;
  }
  cgraph_node *node;
  FOR_EACH_FUNCTION_WITH_GIMPLE_BODY(node)
    dump_function_to_file(node->decl, out, TDF_ALIAS);
}

uint64_t hash_unit(tree function, bool is_rtl) {
  char *text = nullptr;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out)
    give_up("no memory", "for a function's text");
  print_unit(out, function, is_rtl);
  fclose(out);
  uint64_t hash = UINT64_C(14695981039346656037); // FNV-1a.
  for (size_t place = 0; place < size; ++place)
    hash = (hash ^ static_cast<unsigned char>(text[place])) * UINT64_C(1099511628211);
  free(text);
  return hash;
}

void print_to(const char *path, tree function, bool is_rtl) {
  FILE *out = fopen(path, "w");
  if (!out)
    give_up("cannot write", path);
  print_unit(out, function, is_rtl);
  fclose(out);
}

bool is_rtl_now() { return cfun && (cfun->curr_properties & PROP_rtl); }

/// The invocation before is over: what became of its unit?
void end_invocation() {
  if (!begun.open)
    return;
  begun.open = false;
  // RTL is there for the current function alone; expanding makes RTL of GIMPLE.
  bool same_function = begun.function == current_function_decl;
  if (begun.is_rtl && !(same_function && is_rtl_now()))
    return;
  bool is_rtl = begun.is_rtl || (begun.function && same_function && is_rtl_now());
  if (begun.function && !is_rtl && !gimple_has_body_p(begun.function))
    return;
  if (orders.watch) {
    bool same = hash_unit(begun.function, is_rtl) == begun.hash_before;
    fprintf(log_file, "=\t%lu\t%s\n", begun.number, same ? "same" : "changed");
  }
  if (orders.has_dump && orders.dump == begun.number && orders.after)
    print_to(orders.after, begun.function, is_rtl);
}

void begin_invocation(unsigned long number, const opt_pass *pass) {
  bool dumps = orders.has_dump && orders.dump == number && orders.before;
  if (!orders.watch && !dumps)
    return;
  bool is_ipa = pass->type == SIMPLE_IPA_PASS || pass->type == IPA_PASS;
  begun.open = true;
  begun.number = number;
  begun.function = is_ipa ? NULL_TREE : current_function_decl;
  begun.is_rtl = !is_ipa && is_rtl_now();
  if (orders.watch)
    begun.hash_before = hash_unit(begun.function, begun.is_rtl);
  if (dumps)
    print_to(orders.before, begun.function, begun.is_rtl);
}

#ifdef OPTSLEUTH_IN_CC1
/// gcc's own, which says during which pass it happened.
decltype(diagnostic_context::internal_error) tell_of_error;

void on_internal_error(diagnostic_context *context, const char *format, va_list *arguments) {
  cc1::freeze();
  if (tell_of_error)
    tell_of_error(context, format, arguments);
}

/// From the first pass on; before it, gcc sets its own.
void watch_errors() {
  if (global_dc->internal_error == on_internal_error)
    return;
  tell_of_error = global_dc->internal_error;
  global_dc->internal_error = on_internal_error;
}
#endif

/// Called by gcc before every pass on every function.
void override_gate(void *gcc_data, void *) {
  bool *is_open = static_cast<bool *>(gcc_data);
  const opt_pass *pass = current_pass;
  end_invocation();
  if (!*is_open || !has_number(pass))
    return;
  unsigned long number = next_number++;
  char name[256];
  write_name(pass, name, sizeof name);
  bool required = is_required(pass, name);
  bool skip = !required && is_to_be_skipped(number);
  fprintf(log_file, "%lu\t%s\t%s\t%s\t%s\n", number, skip ? "skip" : "run",
          required ? "required" : "optional", name, function_name(current_function_decl));
  fflush(log_file);
  if (skip)
    *is_open = false;
  else
    begin_invocation(number, pass);
#ifdef OPTSLEUTH_IN_CC1
  watch_errors();
  if (orders.window.end != 0 && number == orders.window.from)
    cc1::open_window();
  if (orders.window.end != 0 && number >= orders.window.end)
    cc1::close_window();
#endif
}

void finish(void *, void *) { fclose(log_file); }

/// Begins, with the orders that were read.
void begin(const char *name) {
  if (!orders.log)
    give_up("no log is asked for", "control");
  log_file = fopen(orders.log, "w");
  if (!log_file)
    give_up("cannot write", orders.log);
  fprintf(log_file, "#\t%d\n", log_version);
  register_callback(name, PLUGIN_OVERRIDE_GATE, override_gate, nullptr);
  register_callback(name, PLUGIN_FINISH, finish, nullptr);
}

} // namespace

#ifdef OPTSLEUTH_IN_CC1
void follow_orders(const char *control) {
  read_orders(control);
  // gcc asks no callback where it has loaded no plug-in.
  flag_plugin_added = true;
  begin("optsleuth");
}
#else
int plugin_init(plugin_name_args *info, plugin_gcc_version *version) {
  if (!plugin_default_version_check(version, &gcc_version))
    give_up("made for another gcc than", version->basever);
  for (int place = 0; place < info->argc; ++place)
    if (!strcmp(info->argv[place].key, "control"))
      read_orders(info->argv[place].value);
  begin(info->base_name);
  return 0;
}
#endif
