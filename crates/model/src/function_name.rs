//! A demangled C++ name -> its components, without all that a person leaves
//! out when naming a function: parameters, template arguments, return type,
//! qualifiers, clone suffixes, anonymous namespaces.
//!
//! A hand-written reader for what demanglers print; it takes any text and never
//! fails. What it does not understand it takes for a part of the name.
//!
//! **Invariant:** nothing here knows about compilers or rankings.

use crate::name_parts::{
    ANONYMOUS, after_closure, after_qualifiers, group, is_closure, is_end, last_argument, operator,
};

/// The components of a function's name, as in `llvm`, `Value`, `dump`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionName {
    components: Vec<String>,
    /// How many components name the function, or one that it is written in.
    ends: Vec<usize>,
    /// Whether the rest is inside a closure: it belongs to what was read so far.
    is_closed: bool,
}

impl FunctionName {
    /// Reads a demangled name, or a name as a person writes it.
    pub fn parse(text: &str) -> FunctionName {
        let mut name = FunctionName::default();
        let mut part = String::new();
        let mut callee = "";
        let mut rest = text.trim();
        while let Some(first) = rest.chars().next() {
            if let Some(after) = rest.strip_prefix("::") {
                name.push(&mut part);
                rest = after;
            } else if part.is_empty() && rest.starts_with(ANONYMOUS) {
                rest = &rest[ANONYMOUS.len()..];
            } else if part.is_empty()
                && let Some((operator, after)) = operator(rest)
            {
                part = operator;
                rest = after;
            } else if part.is_empty() && is_closure(rest) {
                name.close();
                rest = after_closure(rest);
            } else {
                let (inside, after) = group(rest);
                match first {
                    '<' => {
                        if part == "callback_fn" || part == "_Function_handler" {
                            callee = last_argument(inside);
                        }
                        rest = after;
                    }
                    // `void (*f(int))(bool)`: the name is inside.
                    '(' if part.is_empty() && inside.starts_with('*') => rest = &inside[1..],
                    '(' if part.is_empty() => rest = after, // Of `decltype (...)`.
                    '(' => {
                        if let Some(closure) = called_closure(&part, callee) {
                            return closure;
                        }
                        name.push(&mut part);
                        name.end();
                        rest = after_qualifiers(after);
                        if is_end(rest) {
                            break;
                        }
                        if !rest.starts_with("::") {
                            // It was part of a return type, as in `decltype(x)`.
                            name = FunctionName::default();
                        }
                    }
                    '[' => rest = after, // `[abi:cxx11]`
                    '{' => {
                        part.push_str(&rest[..rest.len() - after.len()]);
                        rest = after;
                    }
                    ' ' => {
                        if is_end(after_qualifiers(rest)) {
                            break;
                        }
                        // What came before was a return type.
                        name = FunctionName::default();
                        part.clear();
                        rest = rest.trim_start();
                    }
                    ')' | '.' => break,
                    _ => {
                        part.push(first);
                        rest = &rest[first.len_utf8()..];
                    }
                }
            }
        }
        name.push(&mut part);
        name.end();
        name
    }

    /// The name as people write it, as in `llvm::Value::dump`; of a lambda,
    /// that of the function it is written in.
    pub fn short(&self) -> String {
        let name = self.components.join("::");
        if self.is_closed { format!("{name} (lambda)") } else { name }
    }

    /// The last component.
    pub fn last(&self) -> Option<&str> {
        self.components.last().map(String::as_str)
    }

    /// Whether a person may have meant this function by that name: the name is
    /// how this one, or one around it, ends.
    pub fn is_meant_by(&self, name: &FunctionName) -> bool {
        let is_end = |&end: &usize| self.components[..end].ends_with(&name.components);
        !name.components.is_empty() && self.ends.iter().any(is_end)
    }

    fn push(&mut self, part: &mut String) {
        let part = std::mem::take(part);
        if !part.is_empty() && !self.is_closed {
            self.components.push(part);
        }
    }

    fn end(&mut self) {
        if !self.is_closed && self.ends.last() != Some(&self.components.len()) {
            self.ends.push(self.components.len());
        }
    }

    fn close(&mut self) {
        self.end();
        self.is_closed = true;
    }
}

/// `llvm::function_ref` and `std::function` call a lambda through a function
/// that takes it as a template argument, and into which it is inlined.
fn called_closure(part: &str, callee: &str) -> Option<FunctionName> {
    let is_call = part == "callback_fn" || part == "_M_invoke";
    let name = is_call.then(|| FunctionName::parse(callee))?;
    (name.is_closed && !name.components.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    /// The components; `/` ends a function around the last one.
    fn check(text: &str, expected: &str) {
        let FunctionName { components, ends, .. } = FunctionName::parse(text);
        let mut printed = String::new();
        for (index, component) in components.iter().enumerate() {
            let mark = if ends.contains(&(index + 1)) { "/" } else { "::" };
            printed += component;
            printed += if index + 1 < components.len() { mark } else { "" };
        }
        assert_eq!(printed, expected, "{text}");
        assert_eq!(ends.last(), Some(&components.len()), "{text}");
    }

    #[test]
    fn parameters_and_qualifiers_do_not_count() {
        check("main", "main");
        check("isStrictlyAdjacent(llvm::Value*, unsigned int)", "isStrictlyAdjacent");
        check(
            "llvm::DILocation::cloneWithDiscriminator(unsigned int) const",
            "llvm::DILocation::cloneWithDiscriminator",
        );
        check("llvm::Expected<int>::takeError() &&", "llvm::Expected::takeError");
        check("llvm::X86Operand::getToken() const &", "llvm::X86Operand::getToken");
        check("f(void (*)(int), llvm::ArrayRef<int>)", "f");
        check("deleteLoopIfDead(llvm::Loop*) [clone .isra.0]", "deleteLoopIfDead");
        check(
            "(anonymous namespace)::Foo::run(int) const [clone .part.3] [clone .cold]",
            "Foo::run",
        );
        check("LLVMBuildAdd.cold", "LLVMBuildAdd");
    }

    #[test]
    fn template_arguments_do_not_count() {
        check(
            "llvm::SmallVectorImpl<llvm::Value*>::push_back(llvm::Value*)",
            "llvm::SmallVectorImpl::push_back",
        );
        check(
            "llvm::SmallDenseMap<llvm::Value*, int, 4u, X<(A)0>, Y<int> >::grow(unsigned int)",
            "llvm::SmallDenseMap::grow",
        );
        check("llvm::A<((sizeof (int))>(4)), int>::f()", "llvm::A::f");
        check("llvm::A<((1) < (2))>::f()", "llvm::A::f");
        check("llvm::A<decltype (p->q)>::f()", "llvm::A::f");
        check("llvm::A<&(X::operator<(X const&) const)>::f()", "llvm::A::f");
    }

    #[test]
    fn return_types_do_not_count() {
        check("void llvm::walk<int>(int)", "llvm::walk");
        check(
            "llvm::SDValue (anonymous namespace)::DAGCombiner::visitMUL<(anonymous namespace)::EmptyMatchContext>(llvm::SDNode*)",
            "DAGCombiner::visitMUL",
        );
        check("llvm::Value const* f<unsigned long>(unsigned long)", "f");
        check(
            "std::enable_if<(A)==(B), void>::type std::default_delete<llvm::APFloat []>::operator()<llvm::APFloat>(llvm::APFloat*) const",
            "std::default_delete::operator()",
        );
        check("decltype ({parm#1}()) llvm::g<int>(int)", "llvm::g");
        check("decltype(auto) constructFoo<int>(int)", "constructFoo");
        check("void (*llvm::pick<int>(int))(bool)", "llvm::pick");
    }

    #[test]
    fn anonymous_namespaces_are_skipped() {
        check(
            "(anonymous namespace)::HorizontalReduction::tryToReduce(llvm::slpvectorizer::BoUpSLP&)",
            "HorizontalReduction::tryToReduce",
        );
        check("llvm::(anonymous namespace)::f((anonymous namespace)::T const&)", "llvm::f");
    }

    #[test]
    fn operators_are_names() {
        check("llvm::raw_ostream::operator<<(char const*)", "llvm::raw_ostream::operator<<");
        check(
            "llvm::OptimizationRemark& llvm::operator<< <llvm::OptimizationRemark>(llvm::OptimizationRemark&, std::enable_if<true, int>::type)",
            "llvm::operator<<",
        );
        check("llvm::operator<(llvm::Attribute) const", "llvm::operator<");
        check("bool llvm::operator< <int>(int)", "llvm::operator<");
        check("llvm::APFloat::operator>(llvm::APFloat const&) const", "llvm::APFloat::operator>");
        check("llvm::APInt::operator<<=(unsigned int)", "llvm::APInt::operator<<=");
        check("a::It::operator->() const", "a::It::operator->");
        check("std::map<long, int>::operator[](long const&)", "std::map::operator[]");
        check("a::Functor::operator()(int) const", "a::Functor::operator()");
        check(
            "llvm::SmallBitVector::reference::operator bool() const",
            "llvm::SmallBitVector::reference::operator bool",
        );
        check(
            "llvm::Twine::operator std::vector<int, std::allocator<int> >() const",
            "llvm::Twine::operator std::vector",
        );
        check(
            "void* operator new<llvm::MallocAllocator, (unsigned long)4096>(unsigned long)",
            "operator new",
        );
        check("llvm::User::operator delete(void*)", "llvm::User::operator delete");
        check("operatorsOf(int)", "operatorsOf");
    }

    #[test]
    fn constructors_and_destructors_are_names() {
        check(
            "(anonymous namespace)::X86AsmParser::~X86AsmParser()",
            "X86AsmParser::~X86AsmParser",
        );
        check(
            "llvm::SmallVector<int, 4u>::SmallVector(int const&)",
            "llvm::SmallVector::SmallVector",
        );
    }

    #[test]
    fn a_lambda_is_its_function() {
        check("foo(int)::{lambda(llvm::Value*)#1}::operator()(llvm::Value*) const", "foo");
        check(
            "llvm::X86Operand::print(llvm::raw_ostream&) const::{lambda(llvm::MCExpr const*)#1}::operator()(llvm::MCExpr const*) const",
            "llvm::X86Operand::print",
        );
        check(
            "detectPMADDUBSW(llvm::SDValue, llvm::EVT)::$_1::operator()(llvm::SDValue&) const",
            "detectPMADDUBSW",
        );
        check(
            "auto f()::{lambda(auto:1)#2}::operator()<int>(int) const::{lambda()#1}::operator()() const",
            "f",
        );
        check("llvm::sort(int)::$_0::__invoke(int, int)", "llvm::sort");
        check("f(int)::$_15::~$_15()", "f");
        check(
            "llvm::T* llvm::A::get<llvm::T>(int)::{lambda()#1}::operator()[abi:cxx11]() const",
            "llvm::A::get",
        );
    }

    #[test]
    fn a_call_of_a_lambda_is_its_function() {
        check(
            "bool llvm::function_ref<bool (llvm::Use&)>::callback_fn<(anonymous namespace)::AANoRecurse::updateImpl(llvm::Attributor&)::{lambda(llvm::Use&)#1}>(long, llvm::Use&)",
            "AANoRecurse::updateImpl",
        );
        check(
            "std::_Function_handler<bool (llvm::SDNode*), llvm::TargetLowering::BuildSDIV(llvm::SDNode*, bool) const::$_0>::_M_invoke(std::_Any_data const&, llvm::SDNode*&&)",
            "llvm::TargetLowering::BuildSDIV",
        );
        check("bool llvm::function_ref<bool ()>::callback_fn<f()::{lambda()#1} const>(long)", "f");
        check(
            "std::_Function_handler<bool (), f()::$_0>::_M_manager(std::_Any_data&)",
            "std::_Function_handler::_M_manager",
        );
        check(
            "bool llvm::function_ref<bool (llvm::Use&)>::callback_fn<bool (llvm::Use&)>(long, llvm::Use&)",
            "llvm::function_ref::callback_fn",
        );
        // What merely takes a lambda is no part of its function.
        check("bool llvm::any_of<X&, f(int)::$_4>(X&, f(int)::$_4)", "llvm::any_of");
    }

    #[test]
    fn a_local_class_stands_in_its_function() {
        check(
            "llvm::InstCombinerImpl::foldAllocaCmp(llvm::AllocaInst*)::CmpCaptureTracker::captured(llvm::Use const*)",
            "llvm::InstCombinerImpl::foldAllocaCmp/CmpCaptureTracker::captured",
        );
    }

    #[test]
    fn a_thunk_is_not_its_target() {
        let thunk = "{virtual override thunk({offset(-80)}, (anonymous namespace)::A::f())}";
        check(thunk, thunk);
    }

    proptest! {
        #[test]
        fn any_text_is_read(pieces in vec(select(&PIECES[..]), 0..12)) {
            let name = FunctionName::parse(&pieces.concat());
            prop_assert!(name.ends.iter().all(|&end| end <= name.components.len()));
            prop_assert!(name.components.iter().all(|component| !component.is_empty()));
        }
    }

    const PIECES: [&str; 22] = [
        "f",
        "ü",
        "::",
        "<",
        ">",
        "(",
        ")",
        "[",
        "]",
        "{lambda",
        "}",
        "$_",
        "0",
        " ",
        "*",
        "&",
        ",",
        "operator",
        "callback_fn",
        " const",
        " [clone",
        "(anonymous namespace)",
    ];
}
