//! Real projects to break: packages by name, how each is built, and its own tests.
//!
//! **Invariant:** data. Nothing of a project is kept here but the commands that its
//! authors document.

/// A project that a source package holds.
#[derive(Clone, Copy, Debug)]
pub struct Recipe {
    pub package: &'static str,
    /// Before the build, which nobody records: `CC` and `CXX` are names, so that the
    /// build finds what stands for them.
    pub prepare: &'static str,
    pub build: &'static str,
    pub check: &'static str,
}

pub const RECIPES: [Recipe; 4] = [
    Recipe {
        package: "zlib",
        prepare: "CC=cc ./configure --static",
        build: "make -j2 all",
        check: "make test",
    },
    Recipe {
        package: "bzip2",
        prepare: "true",
        build: "make -j2 libbz2.a bzip2 bzip2recover",
        check: "make test",
    },
    Recipe {
        package: "libpng1.6",
        prepare: "CC=cc ./configure --disable-shared",
        build: "make -j2 all && make -j2 check TESTS=",
        check: "make check",
    },
    Recipe {
        package: "libjsoncpp",
        // CMake wants whole paths, and so sees what stands for the compilers itself.
        prepare: "true",
        build: "cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
                -DBUILD_OBJECT_LIBS=OFF -DJSONCPP_WITH_POST_BUILD_UNITTEST=OFF \
                && make -j2 -C build",
        check: "build/bin/jsoncpp_test",
    },
];
