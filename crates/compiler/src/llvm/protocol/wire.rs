//! The bytes that host and worker exchange: the structs, enumerations and
//! constants of `worker/protocol.h`, under the same names. [`super`] turns them
//! into values.
//!
//! Each list below is made into code and, for tests, into a table; the test in
//! `agreement.rs` compares the tables with the header, field by field.
//!
//! **Invariant:** every byte of a struct belongs to a field (zerocopy refuses
//! padding), and no field can hold bytes that are not valid (an enumeration is a
//! number here).

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Constants that both sides use, and a table of them.
macro_rules! constants {
    ($($(#[$meta:meta])* $name:ident: $type:ty = $value:expr;)*) => {
        $($(#[$meta])* pub(crate) const $name: $type = $value;)*

        #[cfg(test)]
        pub(super) const CONSTANTS: &[(&str, u64)] = &[$((stringify!($name), $name as u64)),*];
    };
}

/// Structs with the layout that C++ gives them, and a table of their fields.
macro_rules! structs {
    ($($(#[$meta:meta])* $name:ident {
        $($(#[$field_meta:meta])* $field:ident: $type:ty,)*
    })*) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
            #[repr(C)]
            pub(crate) struct $name {
                $($(#[$field_meta])* pub(crate) $field: $type,)*
            }
        )*

        #[cfg(test)]
        pub(super) fn structs() -> Vec<Struct> {
            vec![$(Struct {
                name: stringify!($name),
                bytes: size_of::<$name>(),
                fields: vec![$(Field {
                    name: stringify!($field),
                    offset: std::mem::offset_of!($name, $field),
                    cpp_type: <$type as CppType>::cpp_type(),
                }),*],
            }),*]
        }
    };
}

/// Closed sets of numbers, and a table of them.
macro_rules! enumerations {
    ($($(#[$meta:meta])* $name:ident {
        $($(#[$variant_meta:meta])* $variant:ident = $number:literal,)*
    })*) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
            #[repr(u32)]
            pub(crate) enum $name { $($(#[$variant_meta])* $variant = $number),* }

            impl Enumeration for $name {
                const NAME: &'static str = stringify!($name);
                const ALL: &'static [(Self, u32)] = &[$(($name::$variant, $number)),*];
            }
        )*

        #[cfg(test)]
        pub(super) fn enumerations() -> Vec<(&'static str, Vec<(String, u32)>)> {
            fn named<E: Enumeration>() -> (&'static str, Vec<(String, u32)>) {
                (E::NAME, E::ALL.iter().map(|(value, number)| (format!("{value:?}"), *number)).collect())
            }
            vec![$(named::<$name>()),*]
        }
    };
}

/// A closed set of numbers.
pub(crate) trait Enumeration: Copy + std::fmt::Debug + 'static {
    const NAME: &'static str;
    const ALL: &'static [(Self, u32)];

    /// The value with this number.
    fn of(number: u32) -> Result<Self, Malformed> {
        let found = Self::ALL.iter().find(|(_, its)| *its == number);
        found.map(|(value, _)| *value).ok_or(Malformed(Self::NAME))
    }
}

/// A field holds a number that the protocol does not know.
#[derive(Debug, thiserror::Error)]
#[error("the worker's report has an unknown {0}")]
pub(crate) struct Malformed(&'static str);

const MIB: u64 = 1 << 20;

constants! {
    /// Raise it, here and in `protocol.h`, whenever something below changes.
    PROTOCOL_VERSION: u32 = 15;

    MAX_FRAMES: usize = 256;
    MAX_MESSAGE: usize = 16 * 1024;
    NO_INVOCATION: u32 = u32::MAX;
    NO_EDIT: u32 = 0;
    MAX_AUTHOR_TRAPS: usize = 256;
    MAX_DETOURS: usize = 2;
    /// Set in a run's `fill` where memory is to be filled; the byte is below it.
    FILLED: u32 = 0x100;

    /// Waiting is limited to this many times the CPU limit, ...
    WALL_PER_CPU: u32 = 4;
    /// ... and this much more.
    WALL_EXTRA_MS: u64 = 1000;

    /// Where things lie in the memory file. The report is at its start.
    REQUEST_OFFSET: u64 = MIB;
    RESPONSE_OFFSET: u64 = 1024 * MIB;
    INVOCATION_OFFSET: u64 = 2048 * MIB;
    INVOCATION_CAPACITY: u64 = 64 * MIB;
    STDOUT_OFFSET: u64 = 2304 * MIB;
    STDERR_OFFSET: u64 = 3328 * MIB;
    MAX_BLOCKS: u64 = 16 * MIB;
    BITS_OFFSET: u64 = 4352 * MIB;
    WINDOW_BITS_OFFSET: u64 = BITS_OFFSET + MAX_BLOCKS / 8;
    /// Authors: events, stacks, places before and after, an area for each.
    AUTHORS_OFFSET: u64 = 4480 * MIB;
    AUTHORS_AREA: u64 = 32 * MIB;
    MEMORY_FILE_BYTES: u64 = AUTHORS_OFFSET + 4 * AUTHORS_AREA;
    MAX_TRANSFER: u64 = 1000 * MIB;

    /// Flags of an [`InvocationRecord`].
    SKIPPED: u32 = 1;
    REQUIRED: u32 = 2;
    CHANGED: u32 = 4;
}

enumerations! {
    /// What the host asks for.
    Op {
        Hello = 1,
        Passes = 2,
        Load = 3,
        Run = 4,
        Exec = 5,
        Compile = 6,
        Check = 7,
    }

    /// How far a child came.
    Phase {
        Start = 0,
        Options = 1,
        Parse = 2,
        Pipeline = 3,
        Verify = 4,
        Emit = 5,
        Codegen = 6,
        Link = 7,
        Execute = 8,
        Interpret = 9,
        Done = 10,
    }

    /// What a child says of itself before it ends.
    Verdict {
        None = 0,
        Ok = 1,
        BadOptions = 2,
        BadModule = 3,
        BadPipeline = 4,
        InvalidIr = 5,
        FatalError = 6,
        ErrorExit = 7,
        CodegenFailure = 8,
        OutOfMemory = 9,
        NeedsProcess = 10,
        Trouble = 11,
        Assertion = 12,
        BadEdit = 13,
        DoesNotCompile = 14,
        CannotCall = 15,
    }

    /// How a child ended, as its supervisor saw it.
    End {
        None = 0,
        Exited = 1,
        Signaled = 2,
        TimeLimit = 3,
        MemoryLimit = 4,
        WallLimit = 5,
        ThreadLimit = 6,
    }

    /// What the referee says.
    Ruling {
        Defined = 1,
        Undefined = 2,
        NoVerdict = 3,
    }

    /// How far the coverage window of a run came.
    Window {
        None = 0,
        Open = 1,
        Closed = 2,
    }
}

structs! {
    /// Announces a request, whose payload is at [`REQUEST_OFFSET`].
    Request {
        op: u32,
        sequence: u32,
        payload_bytes: u64,
        cpu_ms: u64,
        program_cpu_ms: u64,
        memory_bytes: u64,
        address_bytes: u64,
        output_bytes: u64,
    }

    /// Says that a request was served.
    Reply {
        sequence: u32,
        reserved: u32,
    }

    /// Opens a run's payload.
    RunOptions {
        verify_each: u32,
        emit: u32,
        codegen_level: u32,
        execute: u32,
        cover_codegen: u32,
        window_first: u32,
        window_end: u32,
        watch_changes: u32,
        guarded: u32,
        fill: u32,
        edit_kind: u32,
        interpret: u32,
        authors: u32,
        narrow_first: u32,
        narrow_end: u32,
        machine_passes: u32,
    }

    /// Bytes that stand in LLVM's code while the passes run.
    DetourCode {
        address: u64,
        bytes: u32,
        length: u32,
    }

    /// A function of LLVM whose calls are recorded.
    AuthorTrap {
        address: u64,
        kind: u32,
        reserved: u32,
    }

    /// One such call.
    AuthorEvent {
        object: u64,
        other: u64,
        stack: u32,
        kind: u32,
    }

    /// Opens a function in a list of places; its name and its instructions'
    /// addresses follow.
    FunctionPlaces {
        name_bytes: u32,
        instructions: u32,
    }

    /// How the referee interprets; follows the lists of a run that wants it.
    InterpretOptions {
        steps: u64,
        memory_bytes: u64,
        output_bytes: u64,
        depth: u32,
        trace_lines: u32,
        with_arguments: u32,
        self_test: u32,
        observed_byte: u64,
        observed_stream: u32,
        reserved: u32,
    }

    /// Opens the referee's answer; places and texts follow.
    RulingRecord {
        ruling: u32,
        by_signal: u32,
        end_value: i32,
        depends_on_layout: u32,
        steps: u64,
        places: u32,
        observed: u32,
    }

    /// What child and supervisor say of a run.
    Report {
        phase: u32,
        verdict: u32,
        invocations: u32,
        current_invocation: u32,
        invocation_bytes: u32,
        invocations_cut: u32,
        stack_overflow: u32,
        frame_count: u32,
        message_bytes: u32,
        session_loaded: u32,
        response_bytes: u64,
        pipeline_ns: u64,
        end: u32,
        end_value: i32,
        wall_ns: u64,
        cpu_ns: u64,
        peak_memory_bytes: u64,
        stdout_bytes: u64,
        stderr_bytes: u64,
        output_cut: u32,
        edit_items: u32,
        coverage_frozen: u32,
        window: u32,
        author_events: u32,
        author_events_cut: u32,
        author_stack_words: u32,
        places_before_bytes: u32,
        places_after_bytes: u32,
        places_cut: u32,
        frames: [u64; MAX_FRAMES],
        message: [u8; MAX_MESSAGE],
    }

    /// Opens an entry of the invocation log; the names of pass and unit follow.
    InvocationRecord {
        flags: u32,
        pass_bytes: u16,
        unit_bytes: u16,
    }

    /// Opens the response to [`Op::Hello`]; the version's text follows.
    HelloReply {
        protocol_version: u32,
        report_bytes: u32,
        seccomp: u32,
        landlock_abi: u32,
        aslr_off: u32,
        blocks: u32,
        version_bytes: u32,
        reserved: u32,
    }
}

/// A struct as Rust lays it out.
#[cfg(test)]
pub(super) struct Struct {
    pub(super) name: &'static str,
    pub(super) bytes: usize,
    pub(super) fields: Vec<Field>,
}

#[cfg(test)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) offset: usize,
    pub(super) cpp_type: String,
}

/// The C++ type with the same bytes and the same meaning of them.
#[cfg(test)]
pub(super) trait CppType {
    fn cpp_type() -> String;
}

#[cfg(test)]
macro_rules! cpp_types {
    ($($rust:ty: $cpp:literal),*) => {
        $(impl CppType for $rust {
            fn cpp_type() -> String { $cpp.to_owned() }
        })*
    };
}

#[cfg(test)]
cpp_types!(u8: "char", u16: "uint16_t", u32: "uint32_t", i32: "int32_t", u64: "uint64_t");

#[cfg(test)]
impl<T: CppType, const N: usize> CppType for [T; N] {
    fn cpp_type() -> String {
        format!("{}[{N}]", T::cpp_type())
    }
}
