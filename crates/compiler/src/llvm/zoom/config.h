// What files of LLVM's optimizer ask of the configuration that its build makes
// and no package installs. Stands in for llvm/Config/config.h; nothing else here.
#ifndef OPTSLEUTH_LLVM_CONFIG_CONFIG_H
#define OPTSLEUTH_LLVM_CONFIG_CONFIG_H
#include "llvm/Config/llvm-config.h"
#define HAVE_FENV_H 1
#define HAVE_DECL_FE_ALL_EXCEPT 1
#define HAVE_DECL_FE_INEXACT 1
#define PACKAGE_NAME "LLVM"
#define PACKAGE_VERSION LLVM_VERSION_STRING
#define PACKAGE_STRING PACKAGE_NAME " " PACKAGE_VERSION
#endif
