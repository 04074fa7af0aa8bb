// Functions, blocks and regions by their numbers, one line each. See shape.h.
//
// Never here: a change to the module, or a name of a block or value: what is
// compared later must not depend on how a front end calls things.
#include "shape.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/RegionInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstrTypes.h"
#include <set>
#include <vector>

using namespace llvm;

namespace optsleuth {
namespace {
using FunctionNumbers = DenseMap<const Function *, unsigned>;

// Calls through casts and aliases are direct, too: which casts there are
// depends on the version of LLVM.
const Function *callee_of(const Instruction &instruction) {
  auto *call = dyn_cast<CallBase>(&instruction);
  if (!call)
    return nullptr;
  return dyn_cast<Function>(
      call->getCalledOperand()->stripPointerCastsAndAliases());
}

void print_callees(const Function &function, const FunctionNumbers &numbers,
                   raw_ostream &out) {
  std::set<unsigned> callees;
  for (const BasicBlock &block : function)
    for (const Instruction &instruction : block)
      if (const Function *callee = callee_of(instruction)) {
        auto found = numbers.find(callee);
        if (found != numbers.end())
          callees.insert(found->second);
      }
  out << "calls";
  for (unsigned callee : callees)
    out << ' ' << callee;
  out << '\n';
}

// Each region after the one around it.
void collect(const Region &region, std::vector<const Region *> &regions) {
  regions.push_back(&region);
  for (const std::unique_ptr<Region> &inner : region)
    collect(*inner, regions);
}

void print_function(Function &function, const FunctionNumbers &numbers,
                    FunctionAnalysisManager &analyses, raw_ostream &out) {
  LoopInfo &loops = analyses.getResult<LoopAnalysis>(function);
  RegionInfo &tree = analyses.getResult<RegionInfoAnalysis>(function);
  std::vector<const Region *> regions;
  collect(*tree.getTopLevelRegion(), regions);
  DenseMap<const Region *, unsigned> region_numbers;
  for (const Region *region : regions)
    region_numbers.try_emplace(region, region_numbers.size());
  DenseMap<const BasicBlock *, unsigned> block_numbers;
  for (const BasicBlock &block : function)
    block_numbers.try_emplace(&block, block_numbers.size());

  out << "function " << function.size() << ' ' << regions.size() << ' ';
  printEscapedString(function.getName(), out);
  out << '\n';
  print_callees(function, numbers, out);
  for (const Region *region : regions) {
    out << "region " << region->getDepth() << ' '
        << block_numbers.lookup(region->getEntry()) << ' ';
    if (const BasicBlock *exit = region->getExit())
      out << block_numbers.lookup(exit) << '\n';
    else
      out << "-\n";
  }
  for (BasicBlock &block : function) {
    out << "block ";
    // Nothing reaches a block without region.
    auto region = region_numbers.find(tree.getRegionFor(&block));
    if (region != region_numbers.end())
      out << region->second;
    else
      out << '-';
    out << (loops.isLoopHeader(&block) ? " loop " : " - ");
    SmallSetVector<BasicBlock *, 8> ways;
    for (BasicBlock *way : successors(&block))
      ways.insert(way);
    if (ways.empty())
      out << '-';
    ListSeparator comma(",");
    for (BasicBlock *way : ways)
      out << comma << block_numbers.lookup(way);
    for (const Instruction &instruction : block)
      out << ' ' << instruction.getOpcodeName();
    out << '\n';
  }
}
} // namespace

namespace shape {
void print(Module &module, FunctionAnalysisManager &analyses,
           raw_ostream &out) {
  FunctionNumbers numbers;
  for (const Function &function : module)
    if (!function.isDeclaration())
      numbers.try_emplace(&function, numbers.size());
  out << "shape " << numbers.size() << '\n';
  for (Function &function : module)
    if (!function.isDeclaration())
      print_function(function, numbers, analyses, out);
}
} // namespace shape
} // namespace optsleuth
