//! libclang's C interface -> an owned [`Tree`]. The only file with `unsafe`.
//!
//! Functions are looked up in a library that is loaded at run time, in a table
//! of our own: `clang-sys` gives the types, but its own table is per thread.
//!
//! **Invariant:** no handle of libclang outlives the function that made it, and
//! nothing here knows what a node is good for.
#![expect(unsafe_code, reason = "libclang has a C interface")]
#![expect(non_upper_case_globals, reason = "libclang's own names")]

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int, c_longlong, c_uint, c_void};
use std::path::Path;
use std::ptr;
use std::sync::Arc;

use clang_sys::*;
use libloading::Library;

use crate::error::MutateError;
use crate::span::Span;
use crate::tree::{Kind, Node, Token, TokenKind, Tree};
use crate::types::{Integer, Rank, Type, TypeKind};

/// The name under which libclang gets the text: the ending says preprocessed C.
const FILE: &CStr = c"program.i";

macro_rules! api {
    ($($name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions of one loaded library.
        #[expect(non_snake_case, reason = "libclang's own names")]
        struct Api {
            $($name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
            /// Last, because the functions above are in it.
            _library: Library,
        }

        impl Api {
            fn load(path: &Path) -> Result<Api, libloading::Error> {
                // SAFETY: libclang's initializers only register LLVM's options.
                let library = unsafe { Library::new(path)? };
                Ok(Api {
                    $($name: {
                        let symbol = concat!("clang_", stringify!($name), "\0");
                        // SAFETY: the types are those of clang-c/Index.h.
                        *unsafe { library.get(symbol.as_bytes())? }
                    },)*
                    _library: library,
                })
            }
        }
    };
}

api! {
    getClangVersion() -> CXString;
    getCString(CXString) -> *const c_char;
    disposeString(CXString);
    createIndex(c_int, c_int) -> CXIndex;
    disposeIndex(CXIndex);
    parseTranslationUnit2(CXIndex, *const c_char, *const *const c_char, c_int, *mut CXUnsavedFile, c_uint, CXTranslationUnit_Flags, *mut CXTranslationUnit) -> CXErrorCode;
    disposeTranslationUnit(CXTranslationUnit);
    getNumDiagnostics(CXTranslationUnit) -> c_uint;
    getDiagnostic(CXTranslationUnit, c_uint) -> CXDiagnostic;
    disposeDiagnostic(CXDiagnostic);
    getDiagnosticSeverity(CXDiagnostic) -> CXDiagnosticSeverity;
    getDiagnosticSpelling(CXDiagnostic) -> CXString;
    getDiagnosticLocation(CXDiagnostic) -> CXSourceLocation;
    getTranslationUnitCursor(CXTranslationUnit) -> CXCursor;
    visitChildren(CXCursor, extern "C" fn(CXCursor, CXCursor, CXClientData) -> CXChildVisitResult, CXClientData) -> c_uint;
    getCursorExtent(CXCursor) -> CXSourceRange;
    getCursorLocation(CXCursor) -> CXSourceLocation;
    getRangeStart(CXSourceRange) -> CXSourceLocation;
    getRangeEnd(CXSourceRange) -> CXSourceLocation;
    getExpansionLocation(CXSourceLocation, *mut CXFile, *mut c_uint, *mut c_uint, *mut c_uint);
    getCursorSpelling(CXCursor) -> CXString;
    getCursorReferenced(CXCursor) -> CXCursor;
    getCanonicalCursor(CXCursor) -> CXCursor;
    isCursorDefinition(CXCursor) -> c_uint;
    Cursor_getStorageClass(CXCursor) -> CX_StorageClass;
    getFieldDeclBitWidth(CXCursor) -> c_int;
    getCursorType(CXCursor) -> CXType;
    getCanonicalType(CXType) -> CXType;
    getUnqualifiedType(CXType) -> CXType;
    getTypeSpelling(CXType) -> CXString;
    getPointeeType(CXType) -> CXType;
    getResultType(CXType) -> CXType;
    isFunctionTypeVariadic(CXType) -> c_uint;
    getArrayElementType(CXType) -> CXType;
    getArraySize(CXType) -> c_longlong;
    isConstQualifiedType(CXType) -> c_uint;
    isVolatileQualifiedType(CXType) -> c_uint;
    isRestrictQualifiedType(CXType) -> c_uint;
    equalLocations(CXSourceLocation, CXSourceLocation) -> c_uint;
    File_isEqual(CXFile, CXFile) -> c_int;
    getRange(CXSourceLocation, CXSourceLocation) -> CXSourceRange;
    getFile(CXTranslationUnit, *const c_char) -> CXFile;
    getLocationForOffset(CXTranslationUnit, CXFile, c_uint) -> CXSourceLocation;
    tokenize(CXTranslationUnit, CXSourceRange, *mut *mut CXToken, *mut c_uint);
    disposeTokens(CXTranslationUnit, *mut CXToken, c_uint);
    getTokenKind(CXToken) -> CXTokenKind;
    getTokenExtent(CXTranslationUnit, CXToken) -> CXSourceRange;
}

/// Where libclang says that something is.
struct Place {
    file: CXFile,
    line: u32,
    column: u32,
    offset: usize,
}

/// Where that is, seen from the program's text.
enum Whereabouts {
    Here(usize),
    InMacro {
        line: u32,
        column: u32,
    },
    /// In another file, or in none.
    Elsewhere,
}

pub(crate) struct Sys(Api);

impl Sys {
    /// Loads a shared object.
    pub(crate) fn load(path: &Path) -> Result<Sys, libloading::Error> {
        Api::load(path).map(Sys)
    }

    /// As in `Debian clang version 19.1.7`.
    pub(crate) fn version(&self) -> String {
        // SAFETY: needs no state.
        self.string(unsafe { (self.0.getClangVersion)() })
    }

    /// Parses preprocessed C.
    pub(crate) fn read(&self, text: &str, flags: &[String]) -> Result<Tree, MutateError> {
        let api = &self.0;
        let flags: Vec<CString> =
            flags.iter().filter_map(|flag| CString::new(flag.as_str()).ok()).collect();
        let flags: Vec<*const c_char> = flags.iter().map(|flag| flag.as_ptr()).collect();
        let mut file = CXUnsavedFile {
            Filename: FILE.as_ptr(),
            Contents: text.as_ptr().cast(),
            Length: text.len() as u64,
        };
        // SAFETY: every pointer is to something that lives until the unit is
        // disposed of, and an index is used by this thread alone.
        unsafe {
            let index = (api.createIndex)(0, 0);
            let mut unit = ptr::null_mut();
            let n_flags = flags.len() as c_int;
            let code = (api.parseTranslationUnit2)(
                index,
                FILE.as_ptr(),
                flags.as_ptr(),
                n_flags,
                &mut file,
                1,
                CXTranslationUnit_None,
                &mut unit,
            );
            let result = match code {
                CXError_Success => Unit::new(self, unit, text).read(),
                _ => Err(MutateError::GaveUp),
            };
            if !unit.is_null() {
                (api.disposeTranslationUnit)(unit);
            }
            (api.disposeIndex)(index);
            result
        }
    }

    fn string(&self, string: CXString) -> String {
        // SAFETY: a string of libclang is alive until it is disposed of, once.
        unsafe {
            let text = (self.0.getCString)(string);
            let owned = match text.is_null() {
                true => String::new(),
                false => CStr::from_ptr(text).to_string_lossy().into_owned(),
            };
            (self.0.disposeString)(string);
            owned
        }
    }

    /// Where something is; line markers change nothing of it. What comes out of
    /// a macro is where the macro is used.
    ///
    /// # Safety
    /// The unit of `location` is alive.
    unsafe fn place(&self, location: CXSourceLocation) -> Place {
        let mut file = ptr::null_mut();
        let (mut line, mut column, mut offset) = (0, 0, 0);
        // SAFETY: four places to write to.
        unsafe {
            (self.0.getExpansionLocation)(location, &mut file, &mut line, &mut column, &mut offset);
        }
        Place { file, line, column, offset: offset as usize }
    }
}

/// A parsed text.
struct Unit<'s> {
    sys: &'s Sys,
    unit: CXTranslationUnit,
    file: CXFile,
    text: &'s str,
}

impl<'s> Unit<'s> {
    /// # Safety
    /// `unit` is alive, and outlives what is made here.
    unsafe fn new(sys: &'s Sys, unit: CXTranslationUnit, text: &'s str) -> Unit<'s> {
        // SAFETY: as the caller promises.
        let file = unsafe { (sys.0.getFile)(unit, FILE.as_ptr()) };
        Unit { sys, unit, file, text }
    }

    /// # Safety
    /// The unit is alive; so for all that follows.
    unsafe fn read(&self) -> Result<Tree, MutateError> {
        let api = &self.sys.0;
        // SAFETY: as above; each diagnostic is disposed of.
        unsafe {
            for index in 0..(api.getNumDiagnostics)(self.unit) {
                let diagnostic = (api.getDiagnostic)(self.unit, index);
                let severity = (api.getDiagnosticSeverity)(diagnostic);
                let message = self.sys.string((api.getDiagnosticSpelling)(diagnostic));
                let place = self.sys.place((api.getDiagnosticLocation)(diagnostic));
                (api.disposeDiagnostic)(diagnostic);
                if severity >= CXDiagnostic_Error {
                    let Place { line, column, .. } = place;
                    return Err(MutateError::NotC { line, column, message });
                }
            }
            let tree = Tree { tokens: self.tokens()?, ..Tree::default() };
            let mut walk = Walk { unit: self, tree, types: HashMap::new(), parent: 0, error: None };
            walk.node((api.getTranslationUnitCursor)(self.unit));
            match walk.error {
                Some(error) => Err(error),
                None => Ok(walk.tree),
            }
        }
    }

    unsafe fn tokens(&self) -> Result<Vec<Token>, MutateError> {
        let api = &self.sys.0;
        // SAFETY: the tokens are read before they are disposed of.
        unsafe {
            let start = (api.getLocationForOffset)(self.unit, self.file, 0);
            let end = (api.getLocationForOffset)(self.unit, self.file, self.text.len() as c_uint);
            let (mut tokens, mut n_tokens) = (ptr::null_mut(), 0);
            (api.tokenize)(self.unit, (api.getRange)(start, end), &mut tokens, &mut n_tokens);
            let mut read = Ok(Vec::with_capacity(n_tokens as usize));
            for index in 0..n_tokens as usize {
                let token = *tokens.add(index);
                let kind = match (api.getTokenKind)(token) {
                    CXToken_Keyword => TokenKind::Keyword,
                    CXToken_Identifier => TokenKind::Identifier,
                    CXToken_Literal => TokenKind::Literal,
                    CXToken_Comment => continue,
                    _ => TokenKind::Punctuation,
                };
                // Tokens are of the text itself, a macro's arguments included.
                let range = (api.getTokenExtent)(self.unit, token);
                let span = self.fit(self.sys.place((api.getRangeStart)(range)).offset, range);
                match (&mut read, span) {
                    (Ok(read), Ok(Some(span))) => read.push(Token { kind, span }),
                    (Ok(_), Err(error)) => read = Err(error),
                    (Ok(_), Ok(None)) | (Err(_), _) => {}
                }
            }
            (api.disposeTokens)(self.unit, tokens, n_tokens);
            read
        }
    }

    unsafe fn whereabouts(&self, location: CXSourceLocation) -> Whereabouts {
        let api = &self.sys.0;
        // SAFETY: as the caller promises.
        unsafe {
            let Place { file, line, column, offset } = self.sys.place(location);
            if file.is_null() || (api.File_isEqual)(file, self.file) == 0 {
                return Whereabouts::Elsewhere;
            }
            // What is in the text itself is where the text says it is.
            let here = (api.getLocationForOffset)(self.unit, self.file, offset as c_uint);
            match (api.equalLocations)(location, here) {
                0 => Whereabouts::InMacro { line, column },
                _ => Whereabouts::Here(offset),
            }
        }
    }

    /// `None` for what is not in this text.
    unsafe fn span(&self, range: CXSourceRange) -> Result<Option<Span>, MutateError> {
        let api = &self.sys.0;
        // SAFETY: as the caller promises.
        unsafe {
            match self.whereabouts((api.getRangeStart)(range)) {
                Whereabouts::Here(start) => self.fit(start, range),
                Whereabouts::InMacro { line, column } => Err(MutateError::Macro { line, column }),
                Whereabouts::Elsewhere => Ok(None),
            }
        }
    }

    /// From a place to the end of a range, where the text has that.
    unsafe fn fit(&self, start: usize, range: CXSourceRange) -> Result<Option<Span>, MutateError> {
        // SAFETY: as the caller promises.
        let end = unsafe { self.sys.place((self.sys.0.getRangeEnd)(range)).offset };
        match (start <= end, self.text.get(start..end)) {
            (true, Some(_)) => Ok(Some(Span { start, end })),
            (true, None) => Err(MutateError::Misplaced),
            (false, _) => Ok(None),
        }
    }

    /// Which place of the text a name is at.
    unsafe fn offset(&self, location: CXSourceLocation) -> Option<usize> {
        // SAFETY: as the caller promises.
        match unsafe { self.whereabouts(location) } {
            Whereabouts::Here(offset) => Some(offset),
            Whereabouts::InMacro { .. } | Whereabouts::Elsewhere => None,
        }
    }
}

/// The one walk over the tree of libclang.
struct Walk<'s> {
    unit: &'s Unit<'s>,
    tree: Tree,
    types: HashMap<usize, Arc<Type>>,
    parent: usize,
    /// The first thing that makes the text no program for us.
    error: Option<MutateError>,
}

extern "C" fn visit(cursor: CXCursor, _: CXCursor, walk: CXClientData) -> CXChildVisitResult {
    // SAFETY: `Walk::node` below hands itself over, and waits.
    let walk = unsafe { &mut *walk.cast::<Walk<'_>>() };
    // SAFETY: libclang calls this for nodes of a living unit.
    unsafe { walk.node(cursor) };
    CXChildVisit_Continue
}

impl Walk<'_> {
    /// Adds a node and everything below it. What has no place in the text is
    /// left out: it is implicit, or another file's.
    ///
    /// # Safety
    /// The unit of `cursor` is alive.
    unsafe fn node(&mut self, cursor: CXCursor) {
        let api = &self.unit.sys.0;
        let kind = Kind::of(cursor.kind);
        // SAFETY: as the caller promises.
        unsafe {
            let span = match (kind, self.unit.span((api.getCursorExtent)(cursor))) {
                (Kind::Root, _) => Span { start: 0, end: 0 },
                (_, Ok(Some(span))) => span,
                (_, Ok(None)) => return,
                (_, Err(error)) => {
                    self.error.get_or_insert(error);
                    return;
                }
            };
            let location = self.unit.offset((api.getCursorLocation)(cursor)).unwrap_or(span.start);
            let ty = (api.getCursorType)(cursor);
            let mut node = Node { kind, span, location, parent: self.parent, ..Node::default() };
            node.ty = (ty.kind != CXType_Invalid).then(|| self.of_type(ty));
            if kind.has_name() {
                node.name = self.unit.sys.string((api.getCursorSpelling)(cursor));
            }
            if kind.is_declaration() {
                let canonical = (api.getCanonicalCursor)(cursor);
                node.key = self.unit.offset((api.getCursorLocation)(canonical));
                node.is_definition = (api.isCursorDefinition)(cursor) != 0;
                let storage = (api.Cursor_getStorageClass)(cursor);
                node.is_static = storage == CX_SC_Static;
                node.is_extern = storage == CX_SC_Extern;
                node.is_register = storage == CX_SC_Register;
                node.bit_width = u32::try_from((api.getFieldDeclBitWidth)(cursor)).ok();
                if kind == Kind::Function {
                    node.result = Some(self.of_type((api.getResultType)(ty)));
                    node.is_variadic = (api.isFunctionTypeVariadic)(ty) != 0;
                }
            }
            if matches!(kind, Kind::DeclRef | Kind::MemberRef) {
                let target = (api.getCanonicalCursor)((api.getCursorReferenced)(cursor));
                node.target = Kind::of(target.kind);
                node.key = self.unit.offset((api.getCursorLocation)(target));
            }
            let index = self.tree.nodes.len();
            self.tree.nodes.push(node);
            if index != 0 {
                let parent = self.parent;
                self.tree.nodes[parent].children.push(index);
            }
            let outer = std::mem::replace(&mut self.parent, index);
            let data: *mut c_void = ptr::from_mut(self).cast();
            (api.visitChildren)(cursor, visit, data);
            self.parent = outer;
        }
    }

    /// A type, made once for all nodes that have it.
    ///
    /// # Safety
    /// The unit of `ty` is alive.
    unsafe fn of_type(&mut self, ty: CXType) -> Arc<Type> {
        // The first word of a type is its identity within the unit, qualifiers
        // included.
        let identity = ty.data[0] as usize;
        if let Some(known) = self.types.get(&identity) {
            return Arc::clone(known);
        }
        let api = &self.unit.sys.0;
        // SAFETY: as the caller promises; types end, so this does, too.
        let made = unsafe {
            let canonical = (api.getCanonicalType)(ty);
            let kind = match canonical.kind {
                CXType_Pointer => TypeKind::Pointer(self.of_type((api.getPointeeType)(canonical))),
                CXType_ConstantArray | CXType_IncompleteArray | CXType_VariableArray => {
                    TypeKind::Array {
                        element: self.of_type((api.getArrayElementType)(canonical)),
                        length: u64::try_from((api.getArraySize)(canonical)).ok(),
                    }
                }
                other => simple(other),
            };
            let bare = (api.getUnqualifiedType)(canonical);
            Arc::new(Type {
                spelling: self.unit.sys.string((api.getTypeSpelling)(ty)),
                bare: self.unit.sys.string((api.getTypeSpelling)(bare)),
                is_const: (api.isConstQualifiedType)(canonical) != 0,
                is_volatile: (api.isVolatileQualifiedType)(canonical) != 0,
                is_restrict: (api.isRestrictQualifiedType)(canonical) != 0,
                kind,
            })
        };
        self.types.insert(identity, Arc::clone(&made));
        made
    }
}

/// The kinds of types that consist of no others.
fn simple(kind: CXTypeKind) -> TypeKind {
    let integer = |rank, is_signed| TypeKind::Integer(Integer { rank, is_signed });
    match kind {
        CXType_Void => TypeKind::Void,
        CXType_Bool => integer(Rank::Bool, false),
        CXType_Char_S | CXType_SChar => integer(Rank::Char, true),
        CXType_Char_U | CXType_UChar => integer(Rank::Char, false),
        CXType_Short => integer(Rank::Short, true),
        CXType_UShort => integer(Rank::Short, false),
        CXType_Int => integer(Rank::Int, true),
        CXType_UInt => integer(Rank::Int, false),
        CXType_Long => integer(Rank::Long, true),
        CXType_ULong => integer(Rank::Long, false),
        CXType_LongLong => integer(Rank::LongLong, true),
        CXType_ULongLong => integer(Rank::LongLong, false),
        CXType_Int128 => integer(Rank::Int128, true),
        CXType_UInt128 => integer(Rank::Int128, false),
        CXType_Enum => TypeKind::Enum,
        CXType_Float | CXType_Double | CXType_LongDouble | CXType_Float128 | CXType_Float16 => {
            TypeKind::Floating
        }
        CXType_Record => TypeKind::Record,
        CXType_FunctionProto | CXType_FunctionNoProto => TypeKind::Function,
        _ => TypeKind::Other,
    }
}
